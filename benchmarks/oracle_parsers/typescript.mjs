// What the TypeScript compiler sees in TypeScript, TSX and JavaScript files: one line of JSON per definition.
//
//     NODE_PATH=<folder of the package typescript> node typescript.mjs < list-of-paths
//
// A function counts where the syntax gives it a name: a declaration, a member, or the value of a variable, a
// property or an assignment. Overloads and their implementation are one definition, as the language has it. A
// function that is handed over in an object literal inside another function (`run({ done: () => {} })`) is an
// argument rather than a definition: "optional".
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ts = createRequire(process.env.NODE_PATH + "/")("typescript");
const TEST_CALLS = new Set(["it", "test", "describe", "suite", "context", "specify"]);

// Whether a call's callee is that of a test: its first or last name is one of the above, as in `it.each(…)` and
// `QUnit.test`.
function callsTest(callee) {
  if (ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression) && TEST_CALLS.has(callee.name.text)) return true;
  while (!ts.isIdentifier(callee)) {
    if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag;
    else if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) callee = callee.expression;
    else return false;
  }
  return TEST_CALLS.has(callee.text);
}

function titleOf(node, file) {
  return node && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) ? unquoted(node, file) : undefined;
}

// The text between the quotes as it stands in the source, escapes included.
function unquoted(node, file) {
  const text = node.getText(file);
  return text.length > 2 ? text.slice(1, -1) : text;
}

function nameOf(node, file) {
  if (!node) return undefined;
  return ts.isStringLiteralLike(node) ? unquoted(node, file) : node.getText(file);
}

function isFunction(node) {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

function visitFile(path) {
  const text = readFileSync(path, "utf8");
  const kind = path.endsWith(".tsx") ? ts.ScriptKind.TSX
    : /\.[mc]?ts$/.test(path) ? ts.ScriptKind.TS : ts.ScriptKind.JSX;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  // Of what the compiler reports, only what makes its tree doubtful: not that a JavaScript file uses types.
  if (file.parseDiagnostics.length) {
    console.log(JSON.stringify({ path, error: ts.flattenDiagnosticMessageText(file.parseDiagnostics[0].messageText, " ") }));
    return;
  }
  const line = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  const emit = (node, name, kind, around = node, extra = {}) => {
    if (name === undefined || name === "") return;
    const modifiers = (node.modifiers ?? []).filter((each) => !ts.isDecorator(each));
    const decorators = (node.modifiers ?? []).filter((each) => ts.isDecorator(each));
    let start = around.getStart(file);
    if (decorators.length && !modifiers.length) start = node.name ? node.name.getStart(file) : start;
    else if (decorators.length) start = modifiers[0].getStart(file);
    found.push({ path, name, kind, line: line(start), end: line(around.getEnd() - 1), ...extra });
  };
  // A variable's statement is part of its only function.
  const statementOf = (declaration) => {
    const list = declaration.parent;
    return list && ts.isVariableDeclarationList(list) && list.declarations.length === 1 && ts.isVariableStatement(list.parent)
      ? list.parent : declaration;
  };
  const overloads = (nodes, inside) => {
    // Neighbours of one name, of which all but the last lack a body, are one.
    for (let first = 0; first < nodes.length; first++) {
      let last = first;
      const is = (node) => ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)
        || ts.isConstructorDeclaration(node);
      const key = (node) => `${node.kind}:${nameOf(node.name, file)}`;
      if (is(nodes[first]))
        while (last + 1 < nodes.length && !nodes[last].body && is(nodes[last + 1]) && key(nodes[last + 1]) === key(nodes[last])) last++;
      if (last > first) {
        callable(nodes[first], nodes[last]);
        for (let each = first; each <= last; each++) ts.forEachChild(nodes[each], (child) => visit(child, true));
      } else visit(nodes[first], inside);
      first = last;
    }
  };
  const callable = (node, last) => {
    const kind = ts.isFunctionDeclaration(node) ? "function" : "method";
    const name = ts.isConstructorDeclaration(node) ? "constructor" : nameOf(node.name, file) ?? "default";
    emit(node, name, kind);
    if (last) found[found.length - 1].end = line(last.getEnd() - 1);
  };
  const visit = (node, inside) => {
    let within = inside || ts.isFunctionLike(node);
    if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)
      || ts.isConstructorDeclaration(node) || ts.isGetAccessor(node) || ts.isSetAccessor(node)) callable(node);
    else if (ts.isClassDeclaration(node)) emit(node, nameOf(node.name, file) ?? "default", "class");
    else if (ts.isInterfaceDeclaration(node)) emit(node, nameOf(node.name, file), "interface");
    else if (ts.isEnumDeclaration(node)) emit(node, nameOf(node.name, file), "enum");
    else if (ts.isTypeAliasDeclaration(node)) emit(node, nameOf(node.name, file), "type");
    else if (ts.isVariableDeclaration(node) && node.initializer && ts.isIdentifier(node.name)) {
      if (isFunction(node.initializer)) emit(node, nameOf(node.name, file), "function", statementOf(node));
      else if (ts.isClassExpression(node.initializer)) emit(node, nameOf(node.name, file), "class", statementOf(node));
    } else if (ts.isPropertyAssignment(node) && isFunction(node.initializer)) {
      const around = node.parent.parent;
      const handedOver = inside && (ts.isCallExpression(around) || ts.isNewExpression(around));
      emit(node, nameOf(node.name, file), "method", node, handedOver ? { optional: true } : {});
    } else if (ts.isPropertyDeclaration(node) && node.initializer && isFunction(node.initializer))
      emit(node, nameOf(node.name, file), "method");
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken
      && (isFunction(node.right) || ts.isClassExpression(node.right))) {
      const isClass = ts.isClassExpression(node.right);
      const around = ts.isExpressionStatement(node.parent) ? node.parent : node;
      const left = node.left.getText(file);
      if (left === "module.exports") emit(node, nameOf(node.right.name, file) ?? left, isClass ? "class" : "function", around);
      else if (ts.isPropertyAccessExpression(node.left)) emit(node, nameOf(node.left.name, file), isClass ? "class" : "method", around);
      else if (ts.isIdentifier(node.left)) emit(node, left, isClass ? "class" : "function", around);
      else if (ts.isElementAccessExpression(node.left) && ts.isStringLiteralLike(node.left.argumentExpression))
        emit(node, nameOf(node.left.argumentExpression, file), isClass ? "class" : "method", around);
    } else if (ts.isExportAssignment(node) && !node.isExportEquals && (isFunction(node.expression) || ts.isClassExpression(node.expression)))
      emit(node, nameOf(node.expression.name, file) ?? "default", ts.isClassExpression(node.expression) ? "class" : "function");
    else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      const call = node.expression;
      const title = titleOf(call.arguments[0], file);
      if (title && callsTest(call.expression) && call.arguments.slice(1).some(isFunction)) emit(node, title, "test");
    }
    const children = [];
    ts.forEachChild(node, (child) => void children.push(child));
    overloads(children, within);
  };
  overloads([...file.statements], false);
  for (const each of found) console.log(JSON.stringify(each));
}

for (const path of readFileSync(0, "utf8").split("\n")) if (path) visitFile(path);
