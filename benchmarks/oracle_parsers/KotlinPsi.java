import com.intellij.openapi.Disposable;
import com.intellij.openapi.util.Disposer;
import com.intellij.psi.PsiElement;
import com.intellij.psi.PsiErrorElement;
import com.intellij.psi.util.PsiTreeUtil;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Scanner;
import java.util.stream.IntStream;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.EnvironmentConfigFiles;
import org.jetbrains.kotlin.cli.jvm.compiler.KotlinCoreEnvironment;
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar;
import org.jetbrains.kotlin.config.CommonConfigurationKeys;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.psi.*;

/** What the Kotlin compiler's parser sees in Kotlin files: one line of JSON per definition. Paths come on standard input. */
public class KotlinPsi {
  static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  static String quoted(String text) {
    return "\"" + (text == null ? "" : text).replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + "\"";
  }

  static class Reader extends KtTreeVisitorVoid {
    final String path;
    final int[] starts;

    Reader(String path, String text) {
      this.path = path;
      starts = IntStream.concat(IntStream.of(0), IntStream.range(0, text.length()).filter(i -> text.charAt(i) == '\n').map(i -> i + 1)).toArray();
    }

    int line(int offset) {
      int found = Arrays.binarySearch(starts, offset);
      return found >= 0 ? found + 1 : -found - 1;
    }

    void emit(PsiElement whole, String kind, String name, PsiElement keyword) {
      PsiElement start = keyword == null ? whole : keyword;
      out.printf("{\"path\": %s, \"name\": %s, \"kind\": \"%s\", \"line\": %d, \"end\": %d}%n", quoted(path), quoted(name), kind,
          line(start.getTextRange().getStartOffset()), line(whole.getTextRange().getEndOffset() - 1));
    }

    @Override public void visitNamedFunction(KtNamedFunction it) {
      if (it.getName() != null) emit(it, "function", it.getName(), it.getFunKeyword());
      super.visitNamedFunction(it);
    }

    @Override public void visitClass(KtClass it) {
      if (!(it instanceof KtEnumEntry)) emit(it, it.isInterface() ? "interface" : "class", it.getName(), it.getClassOrInterfaceKeyword());
      super.visitClass(it);
    }

    @Override public void visitObjectDeclaration(KtObjectDeclaration it) {
      if (!it.isObjectLiteral()) emit(it, "object", it.getName(), it.getObjectKeyword());
      super.visitObjectDeclaration(it);
    }

    @Override public void visitSecondaryConstructor(KtSecondaryConstructor it) {
      emit(it, "constructor", "constructor", it.getConstructorKeyword());
      super.visitSecondaryConstructor(it);
    }

    @Override public void visitAnonymousInitializer(KtAnonymousInitializer it) {
      if (!(it instanceof KtScriptInitializer)) emit(it, "constructor", "init", it);
      super.visitAnonymousInitializer(it);
    }

    @Override public void visitTypeAlias(KtTypeAlias it) {
      emit(it, "type", it.getName(), it.getTypeAliasKeyword());
      super.visitTypeAlias(it);
    }
  }

  public static void main(String[] arguments) throws Exception {
    CompilerConfiguration configuration = new CompilerConfiguration();
    configuration.put(CommonConfigurationKeys.MODULE_NAME, "oracle");
    configuration.put(CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
    org.jetbrains.kotlin.cli.FrontendConfigurationKeysKt.setExtensionsStorage(configuration, new CompilerPluginRegistrar.ExtensionStorage());
    Disposable lifetime = Disposer.newDisposable("oracle");
    KotlinCoreEnvironment environment = KotlinCoreEnvironment.createForProduction(lifetime, configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
    KtPsiFactory factory = new KtPsiFactory(environment.getProject(), false);
    Scanner paths = new Scanner(System.in, StandardCharsets.UTF_8);
    while (paths.hasNextLine()) {
      String path = paths.nextLine();
      String text = new String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8).replace("\r\n", "\n");
      KtFile file;
      try {
        file = factory.createFile(Path.of(path).getFileName().toString(), text);
      } catch (Throwable error) {
        out.printf("{\"path\": %s, \"error\": %s}%n", quoted(path), quoted(String.valueOf(error)));
        continue;
      }
      PsiErrorElement error = PsiTreeUtil.findChildOfType(file, PsiErrorElement.class);
      if (error != null) {
        out.printf("{\"path\": %s, \"error\": %s}%n", quoted(path), quoted(error.getErrorDescription()));
      } else {
        file.accept(new Reader(path, text));
      }
    }
    out.flush();
    System.exit(0); // threads of the environment would keep it alive
  }
}
