"""Holds our declarations of a checkout against those of an independent parser: the language's own where we can.

    python benchmarks/oracles.py LANGUAGE CHECKOUT [--sample N] [--files N] [--oracle ctags]

Prints one row of the table in docs/languages.md, and with `--sample` N differences each way. A definition of the
oracle and one of ours are the same when they agree in path, name, and whether they are a type, and the line of the
oracle's lies in ours; each matches one at most, the innermost first. Tests with a title (`it("…", …)`) are a group
of their own. Only files are counted that the oracle can parse and that codesearch would index.

Oracles, and what they need:

    python                    ast                  nothing
    typescript tsx javascript the TypeScript compiler   node and npm (installs typescript into the cache folder)
    go                        go/ast               go (Debian: golang-go)
    rust                      syn 1                cargo (offline: Debian's librust-syn-dev, librust-proc-macro2-dev)
    java                      javac's parser       a JDK of at least 17
    ruby                      Ruby's own parser    ruby (3.0 to 3.3)
    php                       PHP's own lexer      php (Debian: php-cli)
    scala                     scalameta            node and npm (installs scalameta-parsers into the cache folder)
    kotlin                    the compiler's PSI   npm and a JDK of at least 17 (installs kotlin-compiler, 90 MB)
    elixir                    Elixir's own parser  elixir of at least 1.14
    zig                       std.zig.Ast          pip (installs ziglang, 100 MB)
    csharp swift lua haskell  our own scanners of tokens or layout, which share nothing with the grammars: nothing
    c cpp bash                Universal Ctags      ctags (Debian: universal-ctags)

Where an oracle is known to be wrong or to see something else, `KNOWN` says so and why.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oracle_parsers import csharp_tokens, haskell_layout, lua_tokens, swift_tokens

from codesearch.analysis import classify
from codesearch.languages import Language, load_languages
from codesearch.parsing import parse
from codesearch.parsing.facts import compiled
from codesearch.types import Declaration, Kind

PARSERS = Path(__file__).parent / "oracle_parsers"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codesearch-oracles"
GROUPS = ("function", "method", "type", "test")
CTAGS_BATCH = 500  # files of one call

# What the oracles call things → the group that it is compared in. What is not here is not compared.
ORACLE_GROUPS = {
    "function": "function", "func": "function", "subroutine": "function", "macrofunction": "function",
    "method": "method", "singletonMethod": "method", "constructor": "method", "methodSpec": "method",
    "class": "type", "interface": "type", "struct": "type", "enum": "type", "union": "type", "trait": "type",
    "type": "type", "typedef": "type", "talias": "type", "object": "type", "annotation": "type",
    "protocol": "type", "newtype": "type", "record": "type", "data": "type", "exception": "type",
    "test": "test",
}  # fmt: skip
OUR_GROUPS = {
    Kind.FUNCTION: "function", Kind.METHOD: "method", Kind.CONSTRUCTOR: "method", Kind.TEST: "function",
    Kind.CLASS: "type", Kind.INTERFACE: "type", Kind.STRUCT: "type", Kind.ENUM: "type", Kind.UNION: "type",
    Kind.TRAIT: "type", Kind.PROTOCOL: "type", Kind.OBJECT: "type", Kind.TYPE: "type",
}  # fmt: skip
# Languages in which a kind means something else than above.
# Tests are calls with a title, not functions.
TITLED_TESTS = frozenset({"typescript", "tsx", "javascript", "elixir", "zig"})
# There are such tests, but the oracle does not see them: those of ours that it has no partner for are not compared.
UNSEEN_TESTS = frozenset({"ruby", "php", "scala", "kotlin", "swift", "lua", "bash", "c", "cpp"})
EXTRA_GROUPS = {
    ("ruby", "module"): "type", ("elixir", "module"): "type", ("elixir", "macro"): "function",
    ("elixir", "callback"): "method", ("scala", "macro"): "function", ("zig", "errorset"): "type",
    ("elixir", "setup"): "function", ("swift", "extension"): "type",
}  # fmt: skip
# Oracles that give the line of the name or of the keyword, where others give that of the whole definition.
LINE_OF_NAME = frozenset({"ctags", "psi", "scalameta", "elixir", "scanner"})
CTAGS_NAMES = {
    "c": "C", "cpp": "C++", "csharp": "C#", "java": "Java", "kotlin": "Kotlin", "php": "PHP", "ruby": "Ruby",
    "lua": "Lua", "bash": "Sh", "elixir": "Elixir", "go": "Go", "rust": "Rust", "haskell": "Haskell",
    "python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TypeScript",
    "perl": "Perl", "r": "R", "julia": "Julia", "ocaml": "OCaml", "clojure": "Clojure", "erlang": "Erlang",
    "elm": "Elm", "powershell": "PowerShell", "objc": "ObjectiveC", "d": "D", "sql": "SQL",
}  # fmt: skip
# `(language, oracle)` → what that oracle gets wrong, or sees otherwise than a reader of the source does.
KNOWN = {
    ("rust", "syn"): "it cannot parse what is newer than Rust 1.65, nor macro calls unless they hold plain items",
    ("java", "javac"): "none known; JDK 17 rejects newer syntax, and such files are left out",
    ("go", "go/ast"): "none known",
    ("javascript", "tsc"): "files in Flow or with proposals that TypeScript does not know are left out",
    ("c", "ctags"): "it loses what stands in `#else`, lists types that are local to a function, and gives a function "
    "the name of the macro that makes it: such a one is right when ours ends in the same line",
    ("cpp", "ctags"): "as for C; it loses functions whose type or name it cannot tell from a macro",
    ("csharp", "scanner"): "statements at the top level look like members; local functions are not seen",
    ("haskell", "scanner"): "a line of the preprocessor ends a declaration; only the top level is seen",
    ("lua", "scanner"): "functions under keys that are no plain string or name get odd names",
    ("elixir", "elixir"): "names that macros put together are not compared",
    ("ruby", "ruby"): "methods that a call defines, and tests with a title, are not counted unless it finds them",
    ("kotlin", "ctags"): "an experimental parser: it stops at syntax that it does not know, and gives no end",
    ("elixir", "ctags"): "each clause of a function is a definition, ours are one declaration",
    ("haskell", "ctags"): "each equation is a definition, and so are names bound in `where`",
    ("bash", "ctags"): "functions of awk programs and here-documents are read as the shell's; it gives no end",
}


@dataclass(slots=True)
class Definition:
    """What an oracle or we found; `index` is that of our declaration."""

    path: str
    name: str
    group: str
    line: int
    end: int
    optional: bool = False
    index: int = -1
    first: int = 0  # ours: the cited span's first line
    body: int = 0  # ours: the line where the body begins
    partner: Definition | None = None


@dataclass(slots=True)
class Result:
    """The answer of an oracle: definitions by path, and files that it could not read."""

    found: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[str, str] = field(default_factory=dict)
    blind: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))  # lines


# --- oracles ------------------------------------------------------------------------------------------------


def read_rows(rows: Iterable[dict[str, object]], language: str) -> Result:
    """Rows of any oracle as definitions; what is of no group is dropped."""
    result = Result()
    for row in rows:
        path = str(row["path"])
        if "error" in row:
            result.broken[path] = str(row["error"])
            continue
        kind = str(row["kind"])
        group = EXTRA_GROUPS.get((language, kind)) or ORACLE_GROUPS.get(kind)
        line, end = int(str(row["line"])), int(str(row.get("end") or 0))
        if kind == "blind":
            result.blind[path].append((line, end))
        elif group and row["name"]:
            result.found[path].append(
                Definition(path, tidy(str(row["name"])), group, line, end, bool(row.get("optional")))
            )
    return result


def tidy(name: str) -> str:
    """A name as both sides write it: one line, without quotes and without the backslashes of a string."""
    return re.sub(r"^(['\"`])(.+)\1$", r"\2", " ".join(name.replace("\\", "").split()))[:120]


def python_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    warnings.simplefilter("ignore")  # tests of linters contain doubtful code on purpose
    for path in paths:
        content = (checkout / path).read_bytes()
        if b"\f" in content or b"\r" in content.replace(b"\r\n", b""):
            yield {"path": path, "error": "form feed or lone CR: ast counts other lines"}
            continue
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError) as error:
            yield {"path": path, "error": str(error)}
            continue
        stack: list[tuple[ast.AST, bool]] = [(tree, False)]
        while stack:
            node, in_class = stack.pop()
            kind = ""
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name, kind = node.name, "method" if in_class else "function"
            elif isinstance(node, ast.ClassDef):
                name, kind = node.name, "class"
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and len(node.targets) == 1:
                if isinstance(node.targets[0], ast.Name):
                    name, kind = node.targets[0].id, "method" if in_class else "function"
            elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Lambda):
                if isinstance(node.target, ast.Name):
                    name, kind = node.target.id, "method" if in_class else "function"
            elif type(node).__name__ == "TypeAlias":
                name, kind = node.name.id, "type"  # type: ignore[attr-defined]
            if kind:
                yield {"path": path, "name": name, "kind": kind, "line": node.lineno, "end": node.end_lineno}
            # An `if` in a class body holds methods, as the class itself does.
            is_branch = isinstance(node, ast.If | ast.Try | ast.With)
            holds_members = isinstance(node, ast.ClassDef) or (in_class and is_branch)
            stack += [(child, holds_members) for child in ast.iter_child_nodes(node)]


def run_parser(
    command: Sequence[str], checkout: Path, paths: Sequence[str], env: dict[str, str] | None = None
) -> Iterator[dict[str, object]]:
    """Runs a parser that reads paths on standard input and prints one line of JSON per definition."""
    listing = "".join(f"{path}\n" for path in paths).encode()
    done = subprocess.run(
        command, input=listing, capture_output=True, cwd=checkout, env={**os.environ, **(env or {})}, check=False
    )
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr.decode('utf-8', 'replace')[-2000:]}")
    for line in done.stdout.splitlines():
        yield json.loads(line)


def typescript_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    modules = CACHE / "node_modules"
    if not (modules / "typescript").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        # From version 7 on the compiler is a program without a JavaScript interface.
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CACHE), "typescript@5"]
        subprocess.run(install, check=True)
    program = ["node", "--stack-size=8000", str(PARSERS / "typescript.mjs")]
    return run_parser(program, checkout, paths, {"NODE_PATH": str(modules)})


def go_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    program = CACHE / "go_ast"
    if is_older(program, PARSERS / "go_ast.go"):
        subprocess.run(["go", "build", "-o", str(program), str(PARSERS / "go_ast.go")], check=True)
    return run_parser([str(program)], checkout, paths)


def rust_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    program = CACHE / "rust" / "release" / "rust-syn-oracle"
    source = PARSERS / "rust_syn"
    if is_older(program, source / "src" / "main.rs"):
        build = ["cargo", "build", "--quiet", "--release", "--target-dir", str(CACHE / "rust")]
        debian = Path("/usr/share/cargo/registry")
        if debian.is_dir():  # without a network: the crates that Debian packages
            replace = 'source.crates-io.replace-with="debian"'
            build += ["--offline", "--config", replace, "--config", f'source.debian.directory="{debian}"']
        # Built from a copy, so that the checkout gets no lock file.
        copy = CACHE / "rust_syn"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
        subprocess.run(build, cwd=copy, check=True)
    return run_parser([str(program)], checkout, paths)


def java_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    return run_parser(["java", "-Xss64m", str(PARSERS / "JavaTrees.java")], checkout, paths)


def ruby_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    return run_parser(["ruby", str(PARSERS / "ruby_tree.rb")], checkout, paths)


def php_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    return run_parser(["php", "-d", "memory_limit=-1", str(PARSERS / "php_tokens.php")], checkout, paths)


def scala_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    library = npm_package("scalameta-parsers", "scalameta-parsers@4")
    program = ["node", "--stack-size=8000", str(PARSERS / "scala_meta.js")]
    return run_parser(program, checkout, paths, {"SCALAMETA": str(library)})


def kotlin_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    library = npm_package("kotlin-compiler", "kotlin-compiler@2.4") / "lib"
    jars = [str(library / "kotlin-compiler.jar"), *map(str, sorted(library.glob("kotlin*-*.jar")))]
    path = os.pathsep.join([*jars, str(library / "annotations-13.0.jar"), str(CACHE / "kotlin")])
    if is_older(CACHE / "kotlin" / "KotlinPsi.class", PARSERS / "KotlinPsi.java"):
        build = ["javac", "-nowarn", "-cp", path, "-d", str(CACHE / "kotlin"), str(PARSERS / "KotlinPsi.java")]
        subprocess.run(build, check=True)
    return run_parser(["java", "-Xss64m", "-cp", path, "KotlinPsi"], checkout, paths)


def npm_package(name: str, wanted: str) -> Path:
    """The folder of a package of npm, which is installed where it is missing."""
    folder = CACHE / "node_modules" / name
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CACHE), wanted]
        subprocess.run(install, check=True)
    return folder


def elixir_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    """Clauses of one function that follow each other in one module are one definition, as they are with us."""
    clauses: list[dict[str, object]] = []
    for line in run_program(["elixir", str(PARSERS / "elixir_quoted.exs")], checkout, paths).splitlines():
        fields = line.split("\t")
        if fields[1] == "error":
            yield {"path": fields[0], "error": fields[2]}
            continue
        path, kind, name, arity, first, last = fields
        clauses.append({"path": path, "kind": kind, "name": name, "arity": arity, "line": int(first), "end": int(last)})
        clauses[-1]["optional"] = kind == "setup" or name == "?"
    clauses.sort(key=lambda each: (each["path"], each["line"], -int(str(each["end"]))))
    open_blocks: list[tuple[object, int, list[dict[str, object]]]] = []  # path, last line, what stands in it
    top: list[dict[str, object]] = []
    for each in clauses:
        while open_blocks and (open_blocks[-1][0], open_blocks[-1][1]) < (each["path"], each["line"]):
            open_blocks.pop()
        siblings = open_blocks[-1][2] if open_blocks else top
        previous = siblings[-1] if siblings else {}
        same = all(previous.get(key) == each[key] for key in ("path", "kind", "name", "arity"))
        if same and each["kind"] in ("function", "macro", "callback"):
            previous["end"] = max(int(str(previous["end"])), int(str(each["end"])))
        else:
            siblings.append(each)
            if siblings is not top:
                top.append({})  # so that two functions of one name, with a module between, stay two
        open_blocks.append((each["path"], int(str(each["end"])), []))
        each["siblings"] = siblings
    for each in clauses:
        if any(each is other for other in each["siblings"]):  # type: ignore[attr-defined]
            yield each


def zig_rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    library = CACHE / "zig"
    if not (library / "ziglang").is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(library), "ziglang==0.17.*"]
        subprocess.run(install, check=True)
    program = CACHE / "zig_ast"
    if is_older(program, PARSERS / "zig_ast.zig"):
        source = str(PARSERS / "zig_ast.zig")
        build = [str(library / "ziglang" / "zig"), "build-exe", "-OReleaseSafe", source, f"-femit-bin={program}"]
        folders = ["--cache-dir", str(library / "cache"), "--global-cache-dir", str(library / "cache")]
        subprocess.run([*build, *folders], check=True)
    for start in range(0, len(paths), 200):
        path, rows, bodies = "", [], set()
        for line in run_program([str(program), *paths[start : start + 200]], checkout, ()).splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "F":
                path = name
                if rest[0] != "0":
                    yield {"path": path, "error": f"{rest[0]} errors"}
                continue
            first, last = int(rest[0]), int(rest[1])
            if kind == "fn":
                bodies.add((path, name, first))
            kind = {"fn": "function", "opaque": "struct"}.get(kind, kind)
            rows.append({"path": path, "name": name, "kind": kind, "line": first, "end": last})
        for row in rows:
            if row["kind"] == "proto":  # given for functions with a body too
                if (row["path"], row["name"], row["line"]) in bodies:
                    continue
                row["kind"] = "function"
            yield row


def run_program(command: Sequence[str], checkout: Path, paths: Sequence[str]) -> str:
    listing = "".join(f"{path}\n" for path in paths).encode()
    done = subprocess.run(command, input=listing, capture_output=True, cwd=checkout, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr.decode('utf-8', 'replace')[-2000:]}")
    return done.stdout.decode("utf-8", "replace")


def scanned(
    definitions: Callable[[str], Iterator[tuple[str, str, int, int]]],
) -> Callable[[Path, Sequence[str]], Iterator[dict[str, object]]]:
    """The rows of one of our own scanners."""

    def rows(checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
        for path in paths:
            text = (checkout / path).read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
            try:
                found = list(definitions(text))
            except (IndexError, ValueError) as error:
                yield {"path": path, "error": repr(error)}
                continue
            for kind, name, line, end in found:
                yield {"path": path, "name": name, "kind": kind, "line": line, "end": end}

    return rows


def ctags_rows(language: str, checkout: Path, paths: Sequence[str]) -> Iterator[dict[str, object]]:
    options = ["--options=NONE", f"--language-force={CTAGS_NAMES[language]}", "--output-format=json"]
    if language in ("c", "cpp"):
        options += ["--kinds-C=+p", "--kinds-C++=+p"]
    for start in range(0, len(paths), CTAGS_BATCH):
        command = ["ctags", *options, "--fields=+neKzS", "-f", "-", "-L", "-"]
        for row in run_parser(command, checkout, paths[start : start + CTAGS_BATCH]):
            if row.get("_type") != "tag" or str(row["name"]).startswith("__anon"):
                continue
            if language == "bash" and str(row["name"]).endswith("="):
                continue  # `a=(…)`, which is a list
            if language in ("c", "cpp"):
                row["name"] = re.sub(r"\s+", "", str(row["name"]))
                if row["kind"] == "typedef" and str(row.get("typeref")).endswith(f":{row['name']}"):
                    continue  # `typedef struct a { … } a`: the structure is a row of its own
                if row["kind"] == "prototype":
                    row["kind"], row["optional"] = "function", True
            yield row


ORACLES = {
    "python": ("ast", python_rows),
    "typescript": ("tsc", typescript_rows),
    "tsx": ("tsc", typescript_rows),
    "javascript": ("tsc", typescript_rows),
    "go": ("go/ast", go_rows),
    "rust": ("syn", rust_rows),
    "java": ("javac", java_rows),
    "ruby": ("ruby", ruby_rows),
    "php": ("php", php_rows),
    "scala": ("scalameta", scala_rows),
    "kotlin": ("psi", kotlin_rows),
    "elixir": ("elixir", elixir_rows),
    "zig": ("std.zig", zig_rows),
    "csharp": ("scanner", scanned(csharp_tokens.definitions)),
    "swift": ("scanner", scanned(swift_tokens.definitions)),
    "lua": ("scanner", scanned(lua_tokens.definitions)),
    "haskell": ("scanner", scanned(haskell_layout.definitions)),
}


def ask_oracle(language: str, checkout: Path, paths: Sequence[str], wanted: str | None) -> tuple[str, Result]:
    CACHE.mkdir(parents=True, exist_ok=True)
    if language in ORACLES and wanted != "ctags":
        name, rows = ORACLES[language]
        return name, read_rows(rows(checkout, paths), language)
    if language not in CTAGS_NAMES:
        sys.exit(f"There is no oracle for {language}.")
    rows = ctags_rows(language, checkout, paths)
    # Some parsers of ctags call a function inside a type a function.
    in_type = ({**row, "kind": "method"} if is_member(row) else row for row in rows)
    return "ctags", read_rows(in_type, language)


def is_member(row: dict[str, object]) -> bool:
    inside = row.get("scopeKind") in {"class", "struct", "interface", "trait", "object", "enum", "union"}
    return inside and ORACLE_GROUPS.get(str(row.get("kind"))) == "function"


def is_older(program: Path, source: Path) -> bool:
    return not program.exists() or program.stat().st_mtime < source.stat().st_mtime


# --- ours ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Speed:
    """Bytes read, and the seconds of processor time that the parser alone and all of `parse` took."""

    size: int = 0
    named: int = 0
    parsing: float = 0.0
    extracting: float = 0.0
    with_errors: int = 0


def our_definitions(path: str, content: bytes, language: Language, speed: Speed) -> list[Definition]:
    parser = compiled(language)[1]
    started = time.process_time()
    tree = parser.parse(content)
    speed.parsing += time.process_time() - started
    del tree
    started = time.process_time()
    parsed = parse(content, language)
    speed.extracting += time.process_time() - started
    speed.size += len(content)
    speed.with_errors += parsed.has_errors
    speed.named += covered(parsed.declarations)
    found = []
    for index, each in enumerate(parsed.declarations):
        group = EXTRA_GROUPS.get((language.name, each.kind.value)) or OUR_GROUPS.get(each.kind)
        is_suite = each.kind is Kind.NAMESPACE and re.match(r"[\w.]*(?:describe|suite|context)\b[.(]", each.signature)
        if (each.kind is Kind.TEST or is_suite) and language.name in TITLED_TESTS:
            group = "test"
        if group:
            first = each.span.start_line + lead_lines(content[each.span.start_byte : each.span.end_byte], language)
            body = content.count(b"\n", 0, each.body_start) + 1
            name = our_name(each, language.name)
            # `typedef struct a { … } b, *c;` is one declaration of ours with three names.
            is_several = language.name in ("c", "cpp") and group == "type" and "," in each.symbol
            several = [tidy(part) for part in each.symbol.split(",")] if is_several else [name]
            found += [
                Definition(
                    path, name, group, first, each.span.end_line,
                    may_be_unseen(each, parsed.declarations, language.name), index,
                    first=each.span.start_line, body=max(body, first),
                )
                for name in several
            ]  # fmt: skip
    return found


def our_name(declaration: Declaration, language: str) -> str:
    """Our name as the oracle of the language writes it."""
    name = tidy(declaration.symbol)
    if language == "csharp":  # the scanner takes destructors and operators by their last word
        return "operator" if "operator" in name.split() else name.removeprefix("~").rpartition(".")[2]
    if language == "elixir":
        return "unquote" if name.startswith(("unquote(", ":")) else name
    if language == "lua":
        return re.split(r"[.:\[]", name)[-1].strip("\"'[]")
    if language == "swift" and declaration.kind is Kind.EXTENSION:
        return "[]" if name.startswith("[") else name.rpartition(".")[2]
    return re.sub(r"\s+", "", name) if language in ("c", "cpp") else name


def may_be_unseen(declaration: Declaration, others: Sequence[Declaration], language: str) -> bool:
    """Whether the oracle of the language cannot be asked for this one: without a partner it is not counted."""
    parent = others[declaration.parent].kind if declaration.parent >= 0 else None
    if declaration.kind is Kind.TEST and language in UNSEEN_TESTS:
        return True
    if language in ("c", "cpp"):  # prototypes: ctags finds some of them
        return declaration.body_start >= declaration.span.end_byte
    if language == "csharp":  # local functions: the scanner does not look into bodies
        return parent is not None and OUR_GROUPS.get(parent) not in (None, "type")
    if language == "haskell":  # the scanner looks at the top level alone
        text = declaration.signature
        by_sign = OUR_GROUPS.get(declaration.kind) == "type" and not re.match(r"[A-Z][\w']*$", declaration.symbol)
        return (
            parent not in (None, Kind.MODULE) or by_sign or text.startswith(("foreign import", "deriving ", "pattern "))
        )
    if language == "lua":  # tables that serve as classes; functions under keys that are functions themselves
        return OUR_GROUPS.get(declaration.kind) == "type" or "function(" in declaration.symbol
    if language == "elixir":  # structures and records; titles that are put together
        is_type = OUR_GROUPS.get(declaration.kind) == "type"
        return (is_type and not declaration.symbol[:1].isalpha()) or "#{" in declaration.symbol
    if language == "php":  # a closure that a variable holds
        return declaration.kind is Kind.FUNCTION and declaration.signature.startswith("$")
    if language == "ruby":  # Rake's tasks, and other functions that a call makes
        return declaration.kind is Kind.FUNCTION and not re.search(r"\bdef\b", declaration.signature)
    return False


def covered(declarations: Sequence[Declaration]) -> int:
    size = end = 0
    for each in declarations:  # in order of start
        start = max(each.span.start_byte, end)
        if each.span.end_byte > start:
            size += each.span.end_byte - start
            end = each.span.end_byte
    return size


_COMMENT = re.compile(rb"\s*(?://[^\n]*(?:\n|$)|/\*.*?\*/|\{-.*?-\}|--(?!\[)[^\n]*\n)", re.DOTALL)
_HASH_COMMENT = re.compile(rb"\s*#(?!\[)[^\n]*(?:\n|$)")
_TOKEN = re.compile(
    rb"[()\[\]{}]|'''.*?'''|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])*'|//[^\n]*", re.DOTALL
)
_ATTRIBUTE = re.compile(rb"\s*(?:@[\w.:]+|#!?(?=\[)|(?=\[))")


def lead_lines(text: bytes, language: Language) -> int:
    """How many lines of a declaration's text stand before the definition itself: comments and attributes."""
    hash_comments = language.name in {"python", "ruby", "bash", "elixir", "php", "r", "perl", "julia"}
    position = 0
    while True:
        match = _COMMENT.match(text, position) or (hash_comments and _HASH_COMMENT.match(text, position))
        if match:
            position = match.end()
            continue
        match = _ATTRIBUTE.match(text, position)
        if not match or match.group().strip() == b"@interface":  # a keyword in Java and Objective-C
            break
        end = _bracketed(text, match.end())
        # A bracket that opens the definition itself: a computed name, an array pattern.
        if match.group().strip() == b"" and language.name != "csharp":
            break
        position = end
    while text[position : position + 1].isspace():
        position += 1
    return text.count(b"\n", 0, position)


def _bracketed(text: bytes, start: int) -> int:
    """Where a bracket that opens at `start`, blanks before it aside, is closed; `start` where there is none."""
    match = re.compile(rb"[ \t]*([(\[<{])").match(text, start)
    if not match or match.group(1) in b"<{":
        return start
    depth, position = 0, match.start(1)
    for each in _TOKEN.finditer(text, position):
        if each.group() in b"([{":
            depth += 1
        elif each.group() in b")]}":
            depth -= 1
            if depth == 0:
                return each.end()
    return start


# --- comparing ----------------------------------------------------------------------------------------------


def match_up(theirs: list[Definition], ours: list[Definition]) -> None:
    """Makes partners of the definitions of one file: each of one at most, inner ones first."""
    by_name: dict[tuple[str, str], list[Definition]] = defaultdict(list)
    for each in ours:
        by_name[each.name, sort_of(each)].append(each)
    ordered = sorted(theirs, key=lambda each: (each.optional, is_macro(each), -each.line, each.end))
    for each in ordered:
        # ctags names a function after the macro that makes its name: any of the same lines will do.
        named = ours if is_macro(each) else by_name.get((each.name, sort_of(each)), ())
        free = [
            candidate
            for candidate in named
            if candidate.partner is None
            and each.line <= candidate.end
            and (
                sort_of(candidate) == "callable" and candidate.end == each.end
                if is_macro(each)
                else candidate.first <= each.line
            )
        ]
        if free:
            best = min(free, key=lambda candidate: (candidate.end != each.end, candidate.end - candidate.first))
            best.partner, each.partner = each, best


def is_macro(definition: Definition) -> bool:
    """Whether this is `TEST(a, b) {` as ctags sees it; in other languages functions are seldom named so."""
    is_c = definition.path.endswith((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inc", ".inl"))
    return is_c and sort_of(definition) == "callable" and bool(re.fullmatch(r"[A-Z][A-Z0-9_]+", definition.name))


def only_comments(content: bytes, end: int, our_end: int) -> bool:
    """Whether ours ends later by nothing but comments, which belong to a block that indentation ends."""
    between = content.split(b"\n")[end:our_end]
    return bool(between) and all(not line.strip() or line.lstrip().startswith((b"#", b"{-#")) for line in between)


def sort_of(definition: Definition) -> str:
    return definition.group if definition.group in ("type", "test") else "callable"


@dataclass(slots=True)
class Tally:
    """Counts of one group."""

    expected: int = 0
    found: int = 0
    ours: int = 0
    right: int = 0

    def text(self) -> str:
        """Precision and recall as a cell of the table."""
        if not self.expected and not self.ours:
            return "–"
        return f"{share(self.right, self.ours)} / {share(self.found, self.expected)}"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else "–"


def files_of(checkout: Path, language: Language) -> list[str]:
    """The files of a language that codesearch would index, in order of path."""
    listed = subprocess.run(["git", "-C", str(checkout), "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
    else:
        paths = [each.relative_to(checkout).as_posix() for each in checkout.rglob("*")]
    languages = load_languages()
    kept = []
    for path in sorted(set(paths)):
        file = checkout / path
        if not path or "\n" in path or "site-packages/" in path or not file.is_file() or file.is_symlink():
            continue
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            continue
        content = file.read_bytes()
        if languages.for_path(path, content) == language and classify(path, content, language) is None:
            kept.append(path)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N differences each way")
    parser.add_argument("--files", type=int, metavar="N", help="only N files, chosen by a fixed seed")
    parser.add_argument("--oracle", choices=("ctags",), help="use this oracle although there is a better one")
    parser.add_argument("--under", default="", metavar="PREFIX", help="only files whose path starts so")
    given = parser.parse_args()
    language = load_languages().get(given.language)
    if language is None or language.syntax is None:
        sys.exit(f"There is no grammar for {given.language}.")
    chooser = random.Random(0)
    paths = [path for path in files_of(given.checkout, language) if path.startswith(given.under)]
    if given.files and given.files < len(paths):
        paths = sorted(chooser.sample(paths, given.files))
    oracle, result = ask_oracle(language.name, given.checkout, paths, given.oracle)
    speed = Speed()
    tallies: dict[str, Tally] = defaultdict(Tally)
    missed: list[Definition] = []
    extra: list[Definition] = []
    starts: list[Definition] = []
    ends: list[Definition] = []
    pairs = with_end = unseen = 0
    for path in paths:
        content = (given.checkout / path).read_bytes()
        ours = our_definitions(path, content, language, speed)
        if path in result.broken:
            continue
        theirs = result.found.get(path, [])
        match_up(theirs, ours)
        for each in theirs:
            if each.partner:
                pairs += 1
                with_end += bool(each.end)
                latest = each.partner.body if oracle in LINE_OF_NAME else each.partner.line
                if language.name in ("c", "cpp") and each.group == "type":
                    latest = each.partner.end  # the name of a `typedef` stands last
                if not is_macro(each) and not each.partner.line <= each.line <= latest:
                    starts.append(each)
                if each.end and each.end != each.partner.end and not only_comments(content, each.end, each.partner.end):
                    ends.append(each)
            if each.optional:
                continue
            for group in ("all", each.group):
                tallies[group].expected += 1
                tallies[group].found += each.partner is not None
            if not each.partner:
                missed.append(each)
        for each in ours:
            if each.partner and each.partner.optional:
                continue
            blind = each.optional or any(a <= each.line <= b for a, b in result.blind.get(path, ()))
            if not each.partner and blind:
                unseen += 1
                continue
            for group in ("all", each.group):
                tallies[group].ours += 1
                tallies[group].right += each.partner is not None
            if not each.partner:
                extra.append(each)
    everything = tallies["all"]
    cells = [
        language.name, given.checkout.resolve().name, oracle, f"{len(paths) - len(result.broken):,}",
        f"{speed.with_errors:,}", f"{everything.expected:,}", f"{everything.ours:,}",
        share(everything.right, everything.ours), share(everything.found, everything.expected),
        *(tallies[group].text() for group in GROUPS),
        share(pairs - len(starts), pairs), share(with_end - len(ends), with_end),
        f"{speed.named / max(speed.size, 1):.1%}", f"{speed.size / 1e6 / max(speed.parsing, 1e-9):.1f}",
        f"{speed.size / 1e6 / max(speed.extracting, 1e-9):.1f}",
    ]  # fmt: skip
    print(
        "| language | checkout | oracle | files | with errors | oracle's | ours | precision | recall "
        "| functions | methods | types | tests | start | end | named bytes | parse MB/s | extract MB/s |"
    )
    print(f"| {' | '.join(cells)} |")
    if result.broken:
        print(f"left out: {len(result.broken)} files that {oracle} could not read")
        for path in sorted(result.broken)[: given.sample]:
            print(f"    {path}: {result.broken[path]}")
    if unseen:
        print(f"not compared: {unseen} of ours that stand where {oracle} is blind")
    if (language.name, oracle) in KNOWN:
        print(f"{oracle}: {KNOWN[language.name, oracle]}")
    show("missed", missed, given.sample, chooser)
    show("ours alone", extra, given.sample, chooser)
    show("other start", starts, given.sample, chooser)
    show("other end", ends, given.sample, chooser)
    return 0


def show(title: str, definitions: list[Definition], count: int, chooser: random.Random) -> None:
    """Some of the differences, chosen by a fixed seed, as `path:line name group`."""
    if not count or not definitions:
        return
    groups = Counter(each.group for each in definitions)
    print(f"{title}: {len(definitions)} ({', '.join(f'{n} {group}' for group, n in groups.most_common())})")
    chosen = chooser.sample(definitions, min(count, len(definitions)))
    for each in sorted(chosen, key=lambda each: (each.path, each.line)):
        ours = f"  ours {each.partner.line}-{each.partner.end}" if each.partner else ""
        print(f"    {each.path}:{each.line}-{each.end} {each.name} {each.group}{ours}")


if __name__ == "__main__":
    sys.exit(main())
