import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

/**
 * What javac's parser sees in Java files: one line of JSON per definition. Paths come on standard input.
 *
 * <p>A constructor has its class's name; blocks of initialisation are "static" and "initializer".
 */
public class JavaTrees {
    public static void main(String[] arguments) throws IOException {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        for (String path; (path = lines.readLine()) != null; ) {
            read(compiler, path, out);
        }
        out.flush();
    }

    static void read(JavaCompiler compiler, String path, PrintStream out) throws IOException {
        var text = new String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8);
        var source = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
            @Override public CharSequence getCharContent(boolean ignored) { return text; }
        };
        var problems = new DiagnosticCollector<JavaFileObject>();
        var task = (JavacTask) compiler.getTask(null, null, problems, List.of("-proc:none"), null, List.of(source));
        var unit = task.parse().iterator().next();
        for (var problem : problems.getDiagnostics()) {
            if (problem.getKind() == Diagnostic.Kind.ERROR) {
                out.println("{\"path\": " + quoted(path) + ", \"error\": " + quoted(problem.getMessage(null)) + "}");
                return;
            }
        }
        new Finder(path, text, unit, Trees.instance(task).getSourcePositions(), out).scan(unit, null);
    }

    static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ') quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }

    static class Finder extends TreeScanner<Void, String> {
        final String path;
        final String text;
        final CompilationUnitTree unit;
        final SourcePositions positions;
        final PrintStream out;

        Finder(String path, String text, CompilationUnitTree unit, SourcePositions positions, PrintStream out) {
            this.path = path;
            this.text = text;
            this.unit = unit;
            this.positions = positions;
            this.out = out;
        }

        void emit(Tree tree, String name, String kind, ModifiersTree modifiers) {
            long start = positions.getStartPosition(unit, tree);
            long end = positions.getEndPosition(unit, tree);
            if (start < 0 || end <= start) return; // made up by the compiler
            // The definition itself begins behind the annotations that stand first.
            long annotated = start;
            if (modifiers != null) {
                for (var annotation : modifiers.getAnnotations()) {
                    if (annotated == positions.getStartPosition(unit, annotation)) {
                        annotated = afterBlanks(positions.getEndPosition(unit, annotation), end);
                    }
                }
            }
            var lines = unit.getLineMap();
            out.println("{\"path\": " + quoted(path) + ", \"name\": " + quoted(name) + ", \"kind\": \"" + kind
                + "\", \"line\": " + lines.getLineNumber(annotated) + ", \"end\": " + lines.getLineNumber(end - 1) + "}");
        }

        /** The first place from a position on that is neither blank nor comment. */
        long afterBlanks(long position, long end) {
            while (position < end) {
                if (Character.isWhitespace(text.charAt((int) position))) position++;
                else if (text.startsWith("//", (int) position)) position = text.indexOf('\n', (int) position);
                else if (text.startsWith("/*", (int) position)) position = text.indexOf("*/", (int) position) + 2;
                else break;
            }
            return position;
        }

        @Override public Void visitClass(ClassTree tree, String outer) {
            String name = tree.getSimpleName().toString();
            if (!name.isEmpty()) {
                String kind = switch (tree.getKind()) {
                    case INTERFACE, ANNOTATION_TYPE -> "interface";
                    case ENUM -> "enum";
                    default -> "class";
                };
                emit(tree, name, kind, tree.getModifiers());
            }
            for (var member : tree.getMembers()) {
                if (member instanceof BlockTree block) emit(block, block.isStatic() ? "static" : "initializer", "method", null);
            }
            return super.visitClass(tree, name);
        }

        @Override public Void visitMethod(MethodTree tree, String outer) {
            String name = tree.getName().toString();
            emit(tree, name.equals("<init>") ? outer : name, "method", tree.getModifiers());
            return super.visitMethod(tree, outer);
        }
    }
}
