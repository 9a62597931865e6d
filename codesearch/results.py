"""What the verbs beside `search` answer with: explanations, reports, changes, duplicates. Frozen values.

Standard library only, as in `types`, on which these values are built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codesearch.types import Copy, Declaration, Filters, Hit, Kind, SearchResult, Side, Skipped


@dataclass(frozen=True, slots=True)
class ReadTerm:
    """A term that a query was looked up with. `rarity` is 0 where it occurs nowhere.

    `stands_for` is the word of the query that it replaces (a form or the right spelling of it), else "".
    """

    term: str
    rarity: float
    chunks: int
    stands_for: str = ""


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    """A hit with what speaks for and against it.

    `signals` of the hit are what each added to the logarithm of its odds, `measured` the same before weighing.
    Ranks count all chunks that the filters admit, by keywords alone and by meaning alone (None: no word, no vector
    in common).
    """

    hit: Hit
    measured: Mapping[str, float]
    matched: tuple[str, ...]
    missed: tuple[str, ...]
    keyword_score: float
    keyword_rank: int | None
    similarity: float
    meaning_rank: int | None


@dataclass(frozen=True, slots=True)
class Expectation:
    """What became of a place that was expected: `place` is its rank on a page without an end, if it has one.

    `reasons` say in words why it is where it is, the decisive one first; `against` are the signals that part it from
    the last hit shown (its own, the hit's), the largest difference first.
    """

    location: str
    place: int | None
    reasons: tuple[str, ...]
    explained: ExplainedHit | None = None
    against: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a query was read, and why its hits are where they are."""

    result: SearchResult
    filters: Filters
    form: str
    terms: tuple[ReadTerm, ...]
    names: tuple[str, ...]
    hits: tuple[ExplainedHit, ...]
    expected: Expectation | None = None

    @property
    def is_as_expected(self) -> bool:
        """Whether there are hits and, when a place was expected, it is one of them."""
        if self.expected is None:
            return bool(self.hits)
        return self.expected.place is not None and self.expected.place <= len(self.hits)


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Files of a snapshot: `parsed` anew, `reused` from what was known, `skipped` with a reason."""

    total: int = 0
    parsed: int = 0
    reused: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class DeclarationCounts:
    """Declarations of a snapshot, against the snapshot indexed before.

    `embedded`: their text was never seen, so a vector was computed. `reused`: all others. `moved`: reused ones
    now in another file, or under another line in the same file. `removed`: in the last snapshot and no more.
    """

    total: int = 0
    embedded: int = 0
    reused: int = 0
    moved: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did."""

    commit: str | None
    files: FileCounts
    declarations: DeclarationCounts
    skipped: tuple[Skipped, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What `clean` removed, or with `dry_run` would remove: files, and rows of the durable record.

    `freed_bytes` of a dry run counts the files only.
    """

    freed_bytes: int = 0
    views: int = 0
    segments: int = 0
    units: int = 0
    texts: int = 0
    dry_run: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether there was nothing to remove."""
        return not (self.freed_bytes or self.views or self.segments or self.units or self.texts)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index beside the state of the repository."""

    commit: str | None
    ref: str | None
    dirty: bool
    index_commit: str | None
    behind: int | None
    stale_files: tuple[str, ...]
    files: int
    declarations: int
    chunks: int
    skipped: tuple[Skipped, ...]
    model: str
    store_bytes: int
    view_bytes: int
    location: str


class HooksFolder(StrEnum):
    """Where git takes a clone's hooks from."""

    GIT = "git"  # the git directory's own folder
    GIT_ELSEWHERE = "git-elsewhere"  # another folder in the git directory
    WORKTREE = "worktree"  # files of the project, which are not ours to write
    SHARED = "shared"  # anywhere else: other repositories may use it as well


class HookState(StrEnum):
    """Whether a hook asks for an index run."""

    INSTALLED = "installed"
    NOT_EXECUTABLE = "not executable"  # git does not run it
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Hook:
    """One of git's hooks.

    `kept` is the file of an earlier hook that ours runs, `to_add` the line that the user has to add, if the hook is a
    file of the work tree.
    """

    event: str
    state: HookState
    path: str
    kept: str | None
    to_add: str | None


@dataclass(frozen=True, slots=True)
class HooksStatus:
    """The hooks of a clone.

    `pending`: a hook has asked for an index run that has not begun. `last_error` is what the last run said, if it
    failed. Hooks of a bare repository without worktrees are not `useful`: git never runs them.
    """

    folder: str
    kind: HooksFolder
    hooks: tuple[Hook, ...]
    pending: bool
    last_error: str | None
    useful: bool


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The declarations of one file, in order of start, nested ones included."""

    path: str
    language: str
    declarations: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One declaration, or lines that are none (`kind` is None then, and the names are empty), with the text."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    qualified_name: str
    kind: Kind | None
    language: str
    signature: str
    lines: tuple[str, ...]


class ChangeKind(StrEnum):
    """What became of a declaration between two snapshots."""

    ADDED = "added"
    CHANGED = "changed"  # its text did; it may stand in another place as well
    MOVED = "moved"  # the same text in another file, or in another declaration
    RENAMED = "renamed"  # nearly the same text under another name
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Version:
    """A declaration as one of two snapshots has it. `citation` is what `show` takes: path:A-B or REV:path:A-B."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    qualified_name: str
    kind: Kind
    language: str
    citation: str = ""


@dataclass(frozen=True, slots=True)
class DeclarationChange:
    """A declaration that differs: `old` is None for an added one, `new` for a removed one."""

    change: ChangeKind
    old: Version | None
    new: Version | None

    @property
    def shown(self) -> Version:
        """The new version, of a removed one the old."""
        version = self.new or self.old
        assert version is not None
        return version


@dataclass(frozen=True, slots=True)
class Comparison:
    """The declarations that differ between two snapshots, by file and line.

    `elsewhere` are files that differ in no declaration: between declarations, or in a language that has none.
    """

    old: Side
    new: Side
    changes: tuple[DeclarationChange, ...]
    elsewhere: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Similar:
    """What is most like a declaration: hits, best first, and its own copies, which are no hits."""

    declaration: Shown
    hits: tuple[Hit, ...]
    copies: tuple[Copy, ...]


@dataclass(frozen=True, slots=True)
class DuplicatePlace:
    """A declaration, or a whole file (kind FILE, no names), and how like the first of its group it is (1: the same)."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    qualified_name: str
    kind: Kind
    language: str
    likeness: float


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Places with one text, or nearly one. `waste` are the lines that would go if only the longest stayed."""

    places: tuple[DuplicatePlace, ...]
    waste: int

    @property
    def is_exact(self) -> bool:
        """Whether all have one text, indentation aside."""
        return all(place.likeness == 1 for place in self.places)


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """A language that codesearch knows, and how much of it this repository has (None outside an index).

    `filenames` are exact names of files (`SConstruct`), `kinds` what its declarations can be.
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[Kind, ...]
    files: int | None = None
    declarations: int | None = None
    filenames: tuple[str, ...] = ()
