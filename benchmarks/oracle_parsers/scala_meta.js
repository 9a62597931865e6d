// What scalameta sees in Scala files: one line of JSON per definition. Paths come on standard input.
const fs = require("fs");
const { parseSource } = require(process.env.SCALAMETA);

const KINDS = {
  "Defn.Class": "class", "Defn.Object": "object", "Defn.Trait": "trait", "Defn.Enum": "enum", "Pkg.Object": "object",
  "Defn.Def": "function", "Decl.Def": "function", "Defn.Macro": "function", "Ctor.Secondary": "constructor",
  "Defn.Type": "type", "Decl.Type": "type",
};
const DIALECTS = ["Scala213", "Scala213Source3", "Scala3", "Scala212"];

function read(path) {
  const source = fs.readFileSync(path, "utf8").replace(/^\ufeff/, "");
  let tree, error;
  for (const dialect of path.endsWith(".sbt") ? ["Sbt1"] : /scala-?3/.test(path) ? ["Scala3"] : DIALECTS) {
    try {
      tree = parseSource(source, { dialect });
    } catch (thrown) {
      tree = { error: String(thrown) };
    }
    if (!tree.error) break;
    error = error || tree.error;
  }
  if (tree.error) return console.log(JSON.stringify({ path, error: String(error) }));
  const starts = [0];
  for (let i = 0; i < source.length; i++) if (source[i] === "\n") starts.push(i + 1);
  const lineAt = (offset) => {
    let low = 0, high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  const stack = [[tree, false]];
  while (stack.length) {
    const [node, aside] = stack.pop();
    if (Array.isArray(node)) {
      for (const each of node) stack.push([each, aside]);
      continue;
    }
    const kind = KINDS[node.type];
    if (kind) {
      const secondary = node.type === "Ctor.Secondary";
      const name = secondary ? "this" : (node.name && node.name.value) || "";
      const named = node.name && node.name.pos.end > node.name.pos.start;
      const line = lineAt(named ? node.name.pos.start : node.pos.start);
      console.log(JSON.stringify({ path, name, kind, line, end: lineAt(node.pos.end - 1), optional: aside }));
    }
    // What stands in a refinement (`A { def b: C }`) or in quoted code is part of a type or of a value.
    const inside = aside || ["Type.Refine", "Term.QuotedMacroExpr", "Term.Interpolate"].includes(node.type);
    for (const key in node) {
      if (key !== "pos" && node[key] && typeof node[key] === "object") stack.push([node[key], inside]);
    }
  }
}

for (const path of fs.readFileSync(0, "utf8").split("\n")) if (path) read(path);
