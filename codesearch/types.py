"""The values that flow through codesearch, and the protocols between its stages. Standard library only.

Offsets are bytes into the raw content of a blob, half-open. Lines are 1-based and inclusive and end at LF, as
in git and grep. Paths are relative to the repository's root and `/`-separated on every platform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Kind(StrEnum):
    """The closed list of what a declaration or a chunk can be, the same for every language."""

    FUNCTION = "function"
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    UNION = "union"
    TRAIT = "trait"
    IMPL = "impl"
    PROTOCOL = "protocol"
    EXTENSION = "extension"
    OBJECT = "object"
    MODULE = "module"
    NAMESPACE = "namespace"
    TYPE = "type"
    CONSTANT = "constant"
    VARIABLE = "variable"
    PROPERTY = "property"
    MACRO = "macro"
    TEST = "test"
    SECTION = "section"
    TABLE = "table"
    CELL = "cell"
    BLOCK = "block"
    REMAINDER = "remainder"
    FILE = "file"

    @property
    def is_callable(self) -> bool:
        """Whether a declaration of this kind has a body that runs: each is a rankable chunk of its own."""
        return self in _CALLABLE

    @property
    def is_container(self) -> bool:
        """Whether a declaration of this kind groups members (a class, a module …)."""
        return self in _CONTAINER


_CALLABLE = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.CONSTRUCTOR, Kind.MACRO, Kind.TEST})
_CONTAINER = frozenset(
    {
        Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.UNION, Kind.TRAIT, Kind.IMPL,
        Kind.PROTOCOL, Kind.EXTENSION, Kind.OBJECT, Kind.MODULE, Kind.NAMESPACE,
    }
)  # fmt: skip


class SkipReason(StrEnum):
    """Why a file of the snapshot has no chunks."""

    BINARY = "binary"
    TOO_LARGE = "too large"
    MINIFIED = "minified"
    GENERATED = "generated"
    LFS_POINTER = "LFS pointer"
    UNDECODABLE = "undecodable"
    UNREADABLE = "unreadable"
    SUBMODULE = "submodule"
    SYMLINK = "symlink"
    NOT_FETCHED = "not fetched"  # git has no such object here: a partial clone, or a damaged one


@dataclass(frozen=True, slots=True)
class Span:
    """A contiguous part of a blob: bytes half-open, lines 1-based and inclusive."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the syntax tree names.

    `span` runs from the first decorator, attribute or doc comment above to the last token. `parent` is the
    index of the enclosing declaration in the same list, or -1. `body_start` is the byte where the body (after
    the signature) begins, or `span.end_byte` when there is none. `borders` are (byte, depth) pairs, sorted by
    byte: where a statement of the body starts and how deeply it is nested (0: directly in the body); empty for
    short declarations, which are never split.
    """

    symbol: str
    qualified_name: str
    kind: Kind
    signature: str
    doc: str
    span: Span
    parent: int = -1
    body_start: int = 0
    borders: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """All declarations of one blob, in order of start (an enclosing one before its members).

    `doc` is the text of the file's own doc, its first comment or docstring, else empty. `has_errors` says
    that the parser had to recover somewhere.
    """

    language: str
    declarations: tuple[Declaration, ...]
    doc: str = ""
    has_errors: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is embedded and ranked.

    Leaf chunks (`synthetic` false) tile the blob. `declaration` is the index (in ParsedFile.declarations) of
    the declaration that the chunk is or is a part of, or of the innermost one enclosing a remainder, or -1.
    `own` says that the chunk stands for that whole declaration or a part of it, rather than lying inside it.
    `part` counts from 0 where a declaration had to be split into `parts`.

    The text fields are what is matched and embedded, never what is cited: `symbol` (a section's heading, a
    file's stem), `parents` (outer names, outermost first, separated by spaces), `signature`, `doc`, and `body`
    (for a leaf its text; for a part after the first, the signature and its text; for a synthetic chunk a
    digest: header, doc, fields and member signatures of a class; the outline of a file).
    """

    kind: Kind
    span: Span
    declaration: int = -1
    own: bool = False
    part: int = 0
    parts: int = 1
    synthetic: bool = False
    symbol: str = ""
    parents: str = ""
    signature: str = ""
    doc: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed, and why."""

    path: str
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """How often each term occurs in each text field of a chunk; counted once, for BM25 and for embedding."""

    symbol: Mapping[str, int]
    parents: Mapping[str, int]
    signature: Mapping[str, int]
    doc: Mapping[str, int]
    body: Mapping[str, int]


class Embedder(Protocol):
    """Turns chunks and queries into unit vectors of one space."""

    @property
    def model_id(self) -> str:
        """Names the weights and every setting that changes a vector; part of the key of stored vectors."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def token_budget(self) -> int:
        """The largest chunk, in this model's tokens."""

    def count_tokens(self, text: str) -> int:
        """The number of this model's tokens in a text, special tokens included."""

    def embed_chunks(self, chunks: Sequence[Chunk], terms: Sequence[ChunkTerms]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(chunks), dimensions); a chunk without any known word is a zero row.

        `terms[i]` are the counted terms of `chunks[i]`; an embedder with a tokenizer of its own ignores them.
        """

    def embed_paths(self, paths: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of path words, shape (len(paths), dimensions), zero rows where nothing is known."""

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The unit vector of a query, shape (dimensions,); zeros when no word is known."""


class Reranker(Protocol):
    """Reads a query and a text together."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query: the more the better, on a scale of its own."""


# --- snapshots -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a snapshot.

    `oid` is the object id that git records for it (in the index or the tree), or "" for a file that git does
    not track or that differs from what is recorded; then its content must be read to know its blob id.
    `mode` is git's file mode (100644, 100755, 120000 for a symlink, 160000 for a submodule).
    """

    path: str
    oid: str = ""
    mode: int = 0o100644


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """Which state of the repository was asked, as shown to people and in JSON."""

    commit: str | None
    ref: str | None
    dirty: bool
    index_commit: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository's files at one moment. `entries` are sorted by path.

    `changed` are tracked paths that differ from `commit`: edited, staged or deleted (then there is no entry).
    `outside` stands for the set of tracked files that a sparse checkout leaves out. `submodules` are those whose files
    are among the entries, each with its commit.
    """

    commit: str | None
    ref: str | None
    dirty: bool
    entries: tuple[Entry, ...]
    changed: tuple[str, ...] = ()
    outside: str = ""
    submodules: tuple[tuple[str, str | None], ...] = ()


class Place(StrEnum):
    """Where a snapshot's files lie."""

    COMMIT = "commit"
    INDEX = "index"
    WORKTREE = "worktree"


@dataclass(frozen=True, slots=True)
class Side:
    """One of two snapshots that are compared.

    `name` is the revision as the user wrote it, else "staged" or "working tree". `commit` is None for the index and the
    work tree, and for the empty tree before a first commit.
    """

    place: Place
    name: str
    commit: str | None = None


# --- what a front end asks and gets --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be a hit at all; applied before ranking. Empty means no restriction.

    `changed` is a range of snapshots that must have added or changed the declaration. `since`, `until` and `authors`
    choose commits, as `git log` does; a line of one of them must still stand in the declaration.
    """

    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    symbols: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    tests: bool | None = None
    docs: bool | None = None
    changed: str | None = None
    since: str | None = None
    until: str | None = None
    authors: tuple[str, ...] = ()

    @property
    def of_commits(self) -> bool:
        """Whether commits are chosen."""
        return bool(self.since is not None or self.until is not None or self.authors)

    @property
    def of_history(self) -> bool:
        """Whether git has to be asked which declarations are admitted."""
        return self.changed is not None or self.of_commits


class Mode(StrEnum):
    """By what hits are found and ranked: by all signals together, or by one measure alone."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    MEANING = "meaning"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines of a hit worth showing: `lines[0]` is line `start_line`; `best` are the line numbers that match."""

    start_line: int
    lines: tuple[str, ...]
    best: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Anchor:
    """The one line of a hit to jump to: its number, its text as in the file, and a column in bytes, from 1."""

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A place whose text is that of a hit, or nearly so."""

    path: str
    start_line: int
    end_line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Reranked:
    """Where a hit stood before a reranker, and the reranker's score; None for a hit that it may not move."""

    rank_before: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked declaration (or section, or remainder) and its verified place.

    `copies` are other places with its text or nearly its text, which are no hits of their own. `anchor` is where the
    declaration's name stands; without a name, the line that matches best. `score` is never that of a reranker, which
    only changes the order.
    """

    rank: int
    score: float
    path: str
    start_line: int
    end_line: int
    symbol: str
    qualified_name: str
    kind: Kind
    language: str
    signature: str
    snippet: Snippet
    commit: str | None
    signals: Mapping[str, float] = field(default_factory=dict)
    anchor: Anchor | None = None
    copies: tuple[Copy, ...] = ()
    reranked: Reranked | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. `near_misses` is filled only when there are no hits.

    `barred_by` is filled when the filters admit nothing at all: each one that admits nothing by itself, or all
    together when only their combination does. `near_symbols` are then the symbols most like one that was asked
    for. `left_out` counts files that were looked at for a hit and have changed since they were indexed.
    """

    query: str
    snapshot: SnapshotInfo
    took_ms: float
    hits: tuple[Hit, ...]
    near_misses: tuple[Hit, ...] = ()
    terms: tuple[str, ...] = ()
    barred_by: tuple[Filters, ...] = ()
    near_symbols: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work is. `total` is None while it is unknown."""

    stage: str
    done: int
    total: int | None


ProgressCallback = Callable[[Progress], None]
