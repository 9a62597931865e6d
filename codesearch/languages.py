"""Knows the languages: reads and checks `grammars_config/*.toml`, ours and a user's, and tells a file's language.

The only reader of that folder. Parses no source code and does not import tree_sitter: a query is compiled when
the first file of its language is parsed. `grammars_config/README.md` documents the keys.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from codesearch.errors import GrammarError
from codesearch.types import Kind

PARSING_VERSION = 4  # raise it when parsing.py gives other declarations for the same source and grammar file

_PACK = "tree_sitter_language_pack"
_CHUNKERS = ("declarations", "sections")
_DOC_COMMENTS = ("above", "inside", "both")
_DOC_MARKUPS = ("none", "xml")

_TEXT_KEYS = frozenset(
    {"name", "chunker", "grammar", "extends", "scope_separator", "doc_comments", "doc_markup", "query", "borders"}
    | {"contents", "conditionals", "pragmas"}
)
_LIST_KEYS = frozenset(
    {"extensions", "filenames", "interpreters", "comments", "attributes", "wrappers"}
    | {"local_scopes", "skip_locals", "open_ended", "merge", "overloads"}
)
_TABLE_KEYS = frozenset({"kinds", "nested", "separators"})
_KEYS = _TEXT_KEYS | _LIST_KEYS | _TABLE_KEYS | {"indented", "masks"}
# What identifies a language is its own; everything else may come from the language that it extends.
_NOT_INHERITED = frozenset({"name", "extends", "extensions", "filenames", "interpreters", "contents"})

RESERVED_CAPTURES = frozenset(
    {"name", "body", "scope", "parameters", "doc", "comment", "attribute", "behind"}
    | {"local", "wrapper", "wrapped", "tail", "embedded", "opening"}
)
_CAPTURE = re.compile(r"@([\w.-]+)")
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|;[^\n]*')
_GRAMMAR_NAME = re.compile(r"[a-z][a-z0-9_]*")  # a plain word, so that it cannot be a path or a module
_VERSION_SUFFIX = re.compile(r"[\d.]+$")
_CONTENTS_READ = 100_000  # bytes: what tells languages apart stands early in a file
_SHEBANG_READ = 256
_KIND_NAMES = frozenset(kind.value for kind in Kind)


@dataclass(frozen=True, slots=True)
class Syntax:
    """How to find declarations in a language's syntax tree; used by parsing.py alone.

    `kinds` maps captures of `query` to kinds; `nested[parent kind][kind]` is the kind that a declaration gets
    instead when it lies directly inside such a parent. `separators[capture]` stands before such a symbol in its
    qualified name, instead of the language's `scope_separator`. What `masks` match, the parser sees as their text,
    or as blanks where that is empty; the directives of `conditionals` as blanks.
    """

    grammar: str
    query: str
    borders: str
    kinds: Mapping[str, Kind]
    nested: Mapping[Kind, Mapping[Kind, Kind]]
    separators: Mapping[str, str]
    comments: tuple[str, ...]
    attributes: tuple[str, ...]
    wrappers: tuple[str, ...]
    local_scopes: tuple[str, ...]
    skip_locals: frozenset[str]
    open_ended: frozenset[str]
    merge: frozenset[Kind]
    overloads: frozenset[Kind]
    doc_comments: str
    doc_markup: str
    pragmas: str
    indented: bool
    masks: tuple[tuple[str, str], ...]
    conditionals: str
    source: str


@dataclass(frozen=True, slots=True)
class Language:
    """A language that codesearch knows.

    `chunker` is "declarations" or "sections"; `syntax` is None for the latter. `version` changes whenever the
    grammar file, the bundled grammars or the parsing rules do, and belongs into the key of every stored result.
    """

    name: str
    version: str
    chunker: str = field(compare=False)
    extensions: tuple[str, ...] = field(compare=False)
    filenames: tuple[str, ...] = field(compare=False, repr=False)
    interpreters: tuple[str, ...] = field(compare=False, repr=False)
    contents: str = field(compare=False, repr=False)
    kinds: tuple[Kind, ...] = field(compare=False, repr=False)
    scope_separator: str = field(compare=False, repr=False)
    syntax: Syntax | None = field(compare=False, repr=False)


class Languages:
    """All known languages, in order of name.

    Where two claim the same file, one whose `contents` match it wins over one that has none, else the later one.
    """

    def __init__(self, languages: Iterable[Language]) -> None:
        self._by_name: dict[str, Language] = {}
        for language in languages:
            self._by_name[language.name] = language
        in_order = self._by_name.values()
        self._by_filename = {filename: each for each in in_order for filename in each.filenames}
        self._by_extension: dict[str, list[Language]] = {}
        for each in in_order:
            for extension in each.extensions:
                self._by_extension.setdefault(extension, []).insert(0, each)
        self._by_interpreter = {interpreter: each for each in in_order for interpreter in each.interpreters}

    def __iter__(self) -> Iterator[Language]:
        return iter(sorted(self._by_name.values(), key=lambda language: language.name))

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Language | None:
        """The language of that name."""
        return self._by_name.get(name)

    def for_path(self, path: str, content: bytes = b"") -> Language | None:
        """The language of a file by its name, else its extension, else the `#!` line that it starts with.

        The longest extension wins (`.d.ts` before `.ts`), one in the exact letter case before any other. Where
        languages share an extension, the file's own bytes decide. None means: no language that codesearch knows.
        """
        filename = path.rpartition("/")[2]
        if filename in self._by_filename:
            return self._by_filename[filename]
        suffixes = PurePosixPath(filename).suffixes
        for start in range(len(suffixes)):
            extension = "".join(suffixes[start:])
            found = self._by_extension.get(extension) or self._by_extension.get(extension.lower())
            if found:
                return _choose(found, content[:_CONTENTS_READ])
        return self._for_shebang(content[:_SHEBANG_READ]) if content.startswith(b"#!") else None

    def _for_shebang(self, head: bytes) -> Language | None:
        words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
        programs = [word.rpartition("/")[2] for word in words if not word.startswith("-") and "=" not in word]
        if programs and programs[0] == "env":
            del programs[0]
        if not programs:
            return None
        return self._by_interpreter.get(programs[0]) or self._by_interpreter.get(_VERSION_SUFFIX.sub("", programs[0]))


def _choose(languages: list[Language], head: bytes) -> Language:
    if len(languages) == 1:
        return languages[0]
    for language in languages:
        if not language.contents or re.search(language.contents.encode(), head, re.MULTILINE):
            return language
    return languages[-1]


def load_languages(extra: Path | None = None) -> Languages:
    """The bundled languages, and those of `extra` (a folder of `.toml` files, or one file).

    A language of `extra` replaces the bundled one of the same name, and wins where both claim a file. Raises
    GrammarError naming the file, the key and the fix.
    """
    if extra is None:
        return _bundled()
    files = sorted(extra.glob("*.toml")) if extra.is_dir() else [extra]
    return Languages([*_bundled(), *_load([_read(file) for file in files], _bundled_files())])


@cache
def _bundled() -> Languages:
    return Languages(_load(_bundled_files(), ()))


@cache
def _bundled_files() -> tuple[_File, ...]:
    package = Path(__file__).parent
    # In a wheel the folder lies inside the package; in a checkout beside it.
    for folder in (package / "grammars_config", package.parent / "grammars_config"):
        if folder.is_dir():
            return tuple(_read(file) for file in sorted(folder.glob("*.toml")))
    raise GrammarError("The folder grammars_config is missing from the installation.", hint="Install codesearch again.")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    raw: bytes
    table: Mapping[str, Any]


def _load(files: Iterable[_File], others: Iterable[_File]) -> list[Language]:
    """The languages of `files`; each may extend one of the same files, or of the `others`."""
    files = tuple(files)
    bases = {file.table.get("name"): file for file in (*others, *files)}
    languages = []
    for file in files:
        check = _Checker(file.path, file.table)
        name = check.text("extends")
        if not name:
            languages.append(_language(check, file.raw))
            continue
        base = bases.get(name)
        if base is None:
            raise check.error("extends", f"there is no language {name!r}", "Name another grammar file's language.")
        if "extends" in base.table:
            raise check.error("extends", f"{name!r} extends a language itself", "Extend that one.")
        check = _Checker(file.path, _merged(base.table, file.table))
        languages.append(_language(check, base.raw + b"\0" + file.raw))
    # Stable: of files that claim one extension, those that look at the contents come last and so are asked first.
    return sorted(languages, key=lambda language: bool(language.contents))


def _merged(base: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    inherited = {key: value for key, value in base.items() if key not in _NOT_INHERITED}
    return {**inherited, **table}


def _read(file: Path) -> _File:
    try:
        raw = file.read_bytes()
        return _File(file, raw, tomllib.loads(raw.decode("utf-8")))
    except OSError as error:
        raise GrammarError(f"{file}: cannot be read: {error.strerror}.", hint="Check the path.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise GrammarError(f"{file}: not valid TOML: {error}.", hint="Correct the syntax there.") from error


def _language(check: _Checker, raw: bytes) -> Language:
    name = check.required_text("name")
    unknown = sorted(set(check.table) - _KEYS)
    if unknown:
        raise check.error(unknown[0], "unknown key", f"Use one of: {', '.join(sorted(_KEYS))}.")
    chunker = check.choice("chunker", _CHUNKERS)
    extensions = check.texts("extensions")
    for extension in extensions:
        if not extension.startswith("."):
            raise check.error("extensions", f"{extension!r} has no leading dot", f"Write {'.' + extension!r}.")
    filenames, interpreters = check.texts("filenames"), check.texts("interpreters")
    if not extensions and not filenames and not interpreters:
        raise check.error(
            "extensions", "no file would be of this language", "List extensions, filenames or interpreters."
        )
    contents = check.text("contents")
    if contents:
        check.pattern("contents", contents)
    syntax = _syntax(check) if chunker == "declarations" else None
    kinds: set[Kind] = {Kind.SECTION}
    if syntax:
        kinds = set(syntax.kinds.values())
        kinds.update(kind for table in syntax.nested.values() for kind in table.values())
    stamp = f"\0{_pack_version()}\0{PARSING_VERSION}".encode()
    return Language(
        name=name,
        version=hashlib.sha256(raw + stamp).hexdigest()[:12],
        chunker=chunker,
        extensions=extensions,
        filenames=filenames,
        interpreters=interpreters,
        contents=contents,
        kinds=tuple(kind for kind in Kind if kind in kinds),
        scope_separator=check.text("scope_separator") or ".",
        syntax=syntax,
    )


def _syntax(check: _Checker) -> Syntax:
    grammar = check.required_text("grammar")
    if not _GRAMMAR_NAME.fullmatch(grammar) or not _is_bundled(grammar):
        raise check.error(
            "grammar",
            f"{grammar!r} is not a bundled grammar",
            f"Name a language of {_PACK}, such as 'python'.",
        )
    query = check.required_text("query")
    pragmas, conditionals = check.text("pragmas"), check.text("conditionals")
    check.pattern("pragmas", pragmas)
    if conditionals and not {"open", "branch", "never"} <= set(check.pattern("conditionals", conditionals).groupindex):
        raise check.error(
            "conditionals", "not all of the groups open, branch and never", "Name them: (?P<open>if), and so on."
        )
    indented = check.table.get("indented", False)
    if not isinstance(indented, bool):
        raise check.error("indented", "not true or false", "Write true or false.")
    kinds = _kinds(check, query)
    skip_locals = frozenset(check.texts("skip_locals"))
    open_ended = frozenset(check.texts("open_ended"))
    separators = check.mapping("separators", check.table.get("separators", {}))
    for key, captures in (("skip_locals", skip_locals), ("open_ended", open_ended), ("separators", separators)):
        for capture in sorted(set(captures) - set(kinds)):
            raise check.error(key, f"the query has no capture @{capture}", "Name a capture of the query.")
    for capture, separator in separators.items():
        if not isinstance(separator, str):
            raise check.error(f"separators.{capture}", "not a text", f'Write {capture} = "…".')
    return Syntax(
        grammar=grammar,
        query=query,
        borders=check.text("borders"),
        kinds=kinds,
        nested={
            check.kind(f"nested.{parent}", parent): {
                check.kind(f"nested.{parent}", inner): check.kind(f"nested.{parent}.{inner}", outcome)
                for inner, outcome in check.mapping(f"nested.{parent}", changes).items()
            }
            for parent, changes in check.mapping("nested", check.table.get("nested", {})).items()
        },
        separators=separators,
        comments=check.texts("comments"),
        attributes=check.texts("attributes"),
        wrappers=check.texts("wrappers"),
        local_scopes=check.texts("local_scopes"),
        skip_locals=skip_locals,
        open_ended=open_ended,
        merge=frozenset(check.kind("merge", kind) for kind in check.texts("merge")),
        overloads=frozenset(check.kind("overloads", kind) for kind in check.texts("overloads")),
        doc_comments=check.choice("doc_comments", _DOC_COMMENTS),
        doc_markup=check.choice("doc_markup", _DOC_MARKUPS),
        pragmas=pragmas,
        indented=indented,
        masks=_masks(check),
        conditionals=conditionals,
        source=str(check.file),
    )


def _masks(check: _Checker) -> tuple[tuple[str, str], ...]:
    """Each regular expression of what the parser is not to see, with the text that it sees instead."""
    fix = "Write masks = ['regular expression', ['regular expression', 'text']]."
    value = check.table.get("masks", [])
    if not isinstance(value, list):
        raise check.error("masks", "not a list", fix)
    masks = []
    for each in value:
        pair = [each, ""] if isinstance(each, str) else each
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise check.error("masks", f"{each!r} is neither a text nor a pair of texts", fix)
        check.pattern("masks", pair[0])
        masks.append((pair[0], pair[1]))
    return tuple(masks)


def _kinds(check: _Checker, query: str) -> dict[str, Kind]:
    """Every capture of the query that makes a declaration, with its kind."""
    named = check.mapping("kinds", check.table.get("kinds", {}))
    kinds = {capture: check.kind(f"kinds.{capture}", kind) for capture, kind in named.items()}
    used = set(_CAPTURE.findall(_STRING_OR_COMMENT.sub("", query)))
    for capture in sorted(used):
        if capture in kinds or capture in RESERVED_CAPTURES or capture.startswith("_"):
            continue
        if capture not in _KIND_NAMES:
            raise check.error(
                f"kinds.{capture}",
                f"the query's capture @{capture} has no kind",
                f'Add: {capture} = "function".',
            )
        kinds[capture] = Kind(capture)
    for capture in sorted(set(named) - used):
        raise check.error(f"kinds.{capture}", "the query has no such capture", "Remove the line.")
    return kinds


@dataclass(frozen=True, slots=True)
class _Checker:
    """Reads keys of one grammar file, with errors that name the file, the key and the fix."""

    file: Path
    table: Mapping[str, Any]

    def error(self, key: str, problem: str, fix: str) -> GrammarError:
        return GrammarError(f"{self.file}: key '{key}': {problem}.", hint=fix)

    def text(self, key: str) -> str:
        value = self.table.get(key, "")
        if not isinstance(value, str):
            raise self.error(key, "not a text", f'Write {key} = "…".')
        return value

    def required_text(self, key: str) -> str:
        value = self.text(key)
        if not value.strip():
            raise self.error(key, "missing", f'Add {key} = "…".')
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key) or choices[0]
        if value not in choices:
            raise self.error(key, f"{value!r} is not a choice", f"Use one of: {', '.join(choices)}.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.error(key, "not a list of texts", f'Write {key} = ["…"].')
        return tuple(value)

    def pattern(self, key: str, pattern: str) -> re.Pattern[bytes]:
        try:
            compiled = re.compile(pattern.encode(), re.MULTILINE)
        except re.error as error:
            raise self.error(key, f"no regular expression: {error}", f"Correct {pattern!r}.") from error
        return compiled

    def mapping(self, key: str, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.error(key, "not a table", f"Write [{key}] and one line per entry.")
        return value

    def kind(self, key: str, value: Any) -> Kind:
        if not isinstance(value, str) or value not in _KIND_NAMES:
            raise self.error(key, f"{value!r} is no kind", f"Use one of: {', '.join(Kind)}.")
        return Kind(value)


@cache
def _pack_folder() -> Path:
    spec = find_spec(_PACK)
    if spec is None or not spec.submodule_search_locations:
        raise GrammarError(f"The package {_PACK} is not installed.", hint="Install codesearch again.")
    return Path(spec.submodule_search_locations[0])


@cache
def _pack_version() -> str:
    # Read from the folder's name: importlib.metadata would cost 60 ms.
    installed = sorted(each.name for each in _pack_folder().parent.glob(f"{_PACK}-*.dist-info"))
    return installed[-1] if installed else "unknown"


@cache
def _pack_listing() -> str:
    return (_pack_folder() / "__init__.py").read_text("utf-8")


def _is_bundled(grammar: str) -> bool:
    if any((_pack_folder() / "bindings" / f"{grammar}{ending}").is_file() for ending in (".abi3.so", ".pyd", ".so")):
        return True
    # A few grammars are packages of their own that the pack depends on and lists by name.
    return f'"{grammar}"' in _pack_listing()
