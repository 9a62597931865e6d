"""The one door to codesearch for its front ends and for library users: opens a repository and answers.

    from codesearch import Engine
    result = Engine.open("path/to/repository").search("where are failed uploads retried", limit=5)

Only this module decides which implementations are in use. It prints nothing and reads no flags. What is slow to
import is imported where it is needed: a search of an indexed, unchanged repository loads numpy and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codesearch.errors import CorruptIndexError, IndexBusyError, LocationError, RepositoryError, UsageError
from codesearch.repository import Repository
from codesearch.results import (
    Cleaned,
    Comparison,
    DuplicateGroup,
    Explanation,
    FileOutline,
    IndexReport,
    LanguageInfo,
    Shown,
    Similar,
    Status,
)
from codesearch.settings import Settings, load_settings
from codesearch.types import (
    Embedder,
    Entry,
    Filters,
    Mode,
    Place,
    Progress,
    ProgressCallback,
    Reranker,
    SearchResult,
    Side,
)

if TYPE_CHECKING:
    from codesearch.analysis import Analyser
    from codesearch.browsing import Browser
    from codesearch.comparisons import Comparer
    from codesearch.corpora import Corpora
    from codesearch.filtering import Spans
    from codesearch.indexing import Workshop
    from codesearch.languages import Languages
    from codesearch.searching import Answer, Searcher
    from codesearch.targets import Target
    from codesearch.view.corpus import Corpus
    from codesearch.view.published import View, ViewFolder
    from codesearch.view.vectors import KnownVectors

_NO_FILTERS = Filters()
_LOCK_SECONDS = 600.0  # a first index of a very large repository takes minutes


class Engine:
    """Answers questions about one repository, and keeps its index."""

    def __init__(self, repository: Repository, settings: Settings) -> None:
        self.repository = repository
        self.settings = settings
        self._rerankers: dict[str | None, Reranker | None] = {}
        self._unrecorded = False

    @classmethod
    def open(cls, path: str | Path = ".", settings: Settings | None = None) -> Engine:
        """The engine of the repository (or plain folder) that a path lies in; RepositoryError without one."""
        repository = Repository.open(path)
        return cls(repository, settings or load_settings(repository.root))

    # --- what it is made of ----------------------------------------------------------------------------------

    @cached_property
    def home(self) -> Path:
        """The folder that holds the index."""
        return self.repository.index_home(self.settings.home)

    @cached_property
    def _embedder(self) -> Embedder:
        from codesearch.embedding import load_embedder

        return load_embedder(self.settings.model)

    def _reranker(self, name: str | None) -> Reranker | None:
        """The named CrossEncoder, else the one of the settings; loaded once."""
        from codesearch.reranking import load_reranker

        name = name or self.settings.rerank
        if name not in self._rerankers:
            self._rerankers[name] = load_reranker(name)
        return self._rerankers[name]

    @cached_property
    def language_set(self) -> Languages:
        """The languages that files are read in."""
        from codesearch.languages import load_languages

        return load_languages(self.settings.grammars)

    @cached_property
    def _views(self) -> ViewFolder:
        from codesearch.view.published import ViewFolder

        return ViewFolder(self.home)

    @cached_property
    def _corpora(self) -> Corpora:
        from codesearch.corpora import Corpora

        def publish(at: str | None, staged: bool, progress: ProgressCallback | None) -> None:
            self._publish(staged=staged, at=at, progress=progress)

        return Corpora(self.repository, self.settings, self._views, lambda: self._embedder, self._analyser, publish)

    @cached_property
    def _workshop(self) -> Workshop:
        from codesearch.indexing import Workshop
        from codesearch.journal import Journal
        from codesearch.store import Store

        return Workshop(
            self.repository, self.settings, self.language_set, self._embedder, self._views,
            Store(self.home / "store"), Journal(self.home / "journal"),
        )  # fmt: skip

    @contextmanager
    def _lock(self, progress: ProgressCallback | None = None) -> Iterator[None]:
        """One index run at a time; the kernel gives the lock back when the process dies."""
        from filelock import FileLock, Timeout

        try:
            self.home.mkdir(parents=True, exist_ok=True)
            _refuse_symlinks(self.home)
            lock = FileLock(self.home / "lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if progress is not None:
                    progress(Progress("waiting for another index run", 0, None))
                lock.acquire(timeout=_LOCK_SECONDS)
            try:
                yield
            finally:
                lock.release()
        except Timeout as error:
            raise IndexBusyError(
                "Another process has been indexing this repository for ten minutes.",
                "Wait for it to end, or search what was indexed before with --no-update.",
            ) from error
        except OSError as error:
            raise RepositoryError(
                f"The index folder cannot be written: {error.strerror or error}.",
                "Free some space, or set CODESEARCH_HOME to a folder that can be written.",
            ) from error

    # --- indexing --------------------------------------------------------------------------------------------

    def index(
        self, *, staged: bool = False, at: str | None = None, progress: ProgressCallback | None = None
    ) -> IndexReport:
        """Brings the index up to date with a snapshot and writes the durable record."""
        report = self._publish(staged=staged, at=at, progress=progress)
        self.finish(progress)
        return report

    def _publish(self, *, staged: bool, at: str | None, progress: ProgressCallback | None) -> IndexReport:
        from codesearch.indexing import IndexRun

        at = self.repository.resolve(at) if at is not None else None
        with self._lock(progress):
            run = IndexRun(self._workshop, self._corpora.pointer(staged, at), progress)
            snapshot = self.repository.snapshot(staged=staged, at=at)
            from_worktree = not staged and at is None and not self.repository.is_bare
            marks = self.repository.marks(snapshot, staged=staged, fixed=not from_worktree)
            report = run.run(snapshot, from_worktree, marks)
        self._unrecorded = True
        self._corpora.trust()
        return report

    def finish(self, progress: ProgressCallback | None = None) -> None:
        """Writes what was indexed by `search` into the durable record; call it once the hits are shown."""
        if not self._unrecorded:
            return
        from codesearch.cleaning import collect_if_large
        from codesearch.indexing import record

        with self._lock(progress):
            record(self._workshop, progress)
            collect_if_large(self._workshop, self.settings.max_index_bytes)
        self._unrecorded = False

    def clean(self, *, everything: bool = True, dry_run: bool = False) -> Cleaned:
        """Removes the index, or with `everything` false only what nothing uses; with `dry_run` only counts it."""
        from codesearch.cleaning import collect_garbage, remove_index

        if not self.home.is_dir():
            return Cleaned(dry_run=dry_run)
        with self._lock():
            if everything:
                cleaned = remove_index(self.home, dry_run=dry_run)
            else:
                cleaned = collect_garbage(self._workshop, dry_run=dry_run)
        if not dry_run:
            self._corpora.forget()
        return cleaned

    # --- searching -------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = _NO_FILTERS,
        staged: bool = False,
        at: str | None = None,
        update: bool = True,
        min_score: float | None = None,
        collapsed: bool = True,
        rerank: str | None = None,
        mode: Mode = Mode.HYBRID,
        fresh_for: float = 0.0,
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """The declarations that answer a query, best first, from the working tree as it is now.

        Indexes first where there is no index; with `update` false answers from what was indexed, leaving out
        what the working tree no longer holds. Without `min_score` there are no hits when nothing here answers the
        query. `collapsed`: copies and near-copies of a hit are listed with it. `rerank` names a CrossEncoder that puts
        the best 50 hits into its order, or is "none"; else the settings decide. `fresh_for`: for so many seconds the
        working tree is taken to be as the last search found it; what a hit cites is read and checked all the same.
        """
        if limit < 1:
            raise UsageError(f"The number of hits must be at least 1, not {limit}.", "Try: --top-k 10")
        reranker = self._reranker(rerank)  # first: a model that is not there should not cost an index run
        started = time.perf_counter()
        fixed = staged or at is not None or self.repository.is_bare

        def ask(corpus: Corpus, commit: str | None) -> Answer:
            searcher = self._searcher(corpus, commit, staged, at, progress, reranker)
            if mode is not Mode.HYBRID:
                from codesearch.modes import search_by

                return search_by(searcher, mode, query, limit, filters)
            return searcher.search(query, limit=limit, filters=filters, min_score=min_score, collapsed=collapsed)

        try:
            corpus, snapshot, commit = self._corpora.corpus(staged, at, update, progress, fresh_for)
            answer = ask(corpus, commit)
            if answer.changed and update and not fixed:
                # Edited since git was asked, or written anew by git with other line ends, which is no change to it.
                self._corpora.doubt(answer.changed)
                corpus, snapshot, commit = self._corpora.corpus(staged, at, update, progress)
                answer = ask(corpus, commit)
        except (CorruptIndexError, IndexError, ValueError) as error:
            if isinstance(error, ValueError | IndexError) and not _came_from_arrays(error):
                raise
            # A damaged file of the index is never worth an error: everything in it can be made again.
            self._corpora.forget()
            self._publish(staged=staged, at=at, progress=progress)
            corpus, snapshot, commit = self._corpora.corpus(staged, at, update, progress)
            answer = ask(corpus, commit)
        took = (time.perf_counter() - started) * 1000
        return SearchResult(
            query, snapshot, round(took, 2), answer.hits, answer.near_misses, answer.terms,
            answer.barred_by, answer.near_symbols, len(answer.changed),
        )  # fmt: skip

    def explain(
        self,
        query: str,
        expected: str | None = None,
        *,
        limit: int = 10,
        filters: Filters = _NO_FILTERS,
        staged: bool = False,
        at: str | None = None,
        update: bool = True,
        rerank: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> Explanation:
        """Why a search gives the hits that it gives, and what became of an expected place (FILE:LINE, FILE#symbol)."""
        from codesearch.absence import why_absent
        from codesearch.explaining import explain
        from codesearch.locations import parse_location
        from codesearch.targets import file_of_path

        result = self.search(
            query, limit=limit, filters=filters, staged=staged, at=at, update=update, rerank=rerank, progress=progress
        )
        corpus, _, commit = self._corpora.corpus(staged, at, update, progress)
        searched = "the index (staged)" if staged else at or ("HEAD" if self.repository.is_bare else None)
        searcher = self._searcher(corpus, commit, staged, at, progress, self._reranker(rerank))
        where = None
        if expected is not None:
            where = parse_location(expected, lambda path: file_of_path(corpus, path) is not None)
            if where.revision is not None:
                raise UsageError("An expected place names no revision.", "Search a revision with --at REV.")

        def why_missing(path: str) -> str:
            return why_absent(corpus, path, self.repository, self.settings, searched)

        return explain(searcher, result, filters, where, why_missing)

    def similar(
        self,
        location: str,
        *,
        limit: int = 10,
        filters: Filters = _NO_FILTERS,
        progress: ProgressCallback | None = None,
    ) -> Similar:
        """The declarations of the working tree that are most like the one at FILE:LINE or FILE#symbol."""
        from codesearch.similarity import similar

        shown = self.show(location)
        target = self.find(f"{shown.path}:{shown.start_line}-{shown.end_line}", progress=progress)
        corpus, _, commit = self._corpora.corpus(False, None, True, progress)
        searcher = self._searcher(corpus, commit, False, None, progress)
        hits, copies = similar(searcher, target, "\n".join(shown.lines), limit, filters)
        return Similar(shown, tuple(hits), tuple(copies))

    def duplicates(
        self,
        *,
        filters: Filters = _NO_FILTERS,
        exact: bool = False,
        min_lines: int = 5,
        staged: bool = False,
        at: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[DuplicateGroup, ...]:
        """Declarations of at least so many lines that are copies of each other, or nearly, the largest waste first."""
        from codesearch.duplicates import find_duplicates

        corpus, _, commit = self._corpora.corpus(staged, at, True, progress)
        read = self._reader(from_git=False)
        find_spans = self._searcher(corpus, commit, staged, at, progress).find_spans

        def read_many(wanted: Sequence[tuple[str, str]]) -> Iterator[bytes | None]:
            if staged or at is not None or self.repository.is_bare:
                return (content for _, content in self.repository.read_blobs(blob for _, blob in wanted))
            return (read(path, blob) for path, blob in wanted)

        how: dict[str, Any] = {"exact": exact, "min_lines": min_lines, "progress": progress}
        return tuple(find_duplicates(corpus, read_many, filters, find_spans=find_spans, **how))

    def find(self, location: str, *, progress: ProgressCallback | None = None) -> Target:
        """The place of the working tree's index that FILE, FILE:LINE, FILE:A-B or FILE#symbol names.

        LocationError says why there is none (no such symbol, skipped, ignored, excluded, …), or lists what an
        ambiguous symbol may mean.
        """
        from codesearch.absence import why_absent
        from codesearch.locations import parse_location
        from codesearch.targets import file_of_path, find_target

        corpus, _, _ = self._corpora.corpus(False, None, True, progress)
        where = parse_location(location, lambda path: file_of_path(corpus, path) is not None)
        target = find_target(corpus, where) if where.revision is None else None
        if target is None:
            searched = "HEAD" if self.repository.is_bare else None
            why = why_absent(corpus, where.path, self.repository, self.settings, searched)
            raise LocationError(why, "Only what is indexed can be found.")
        return target

    def changes(self, between: str, *, progress: ProgressCallback | None = None) -> Comparison:
        """The declarations that differ between two snapshots: `A..B`, `A...B`, `REV`, `staged`, `unstaged`.

        Needs no index. RevisionError where that names no two snapshots.
        """
        return self._comparer.compare(between, progress).comparison

    @cached_property
    def _comparer(self) -> Comparer:
        from codesearch.comparisons import Comparer

        return Comparer(self.repository, self.language_set, self.settings)

    def _searcher(
        self,
        corpus: Corpus,
        commit: str | None,
        staged: bool,
        at: str | None,
        progress: ProgressCallback | None,
        reranker: Reranker | None = None,
    ) -> Searcher:
        from codesearch.searching import Searcher

        in_commit = at is not None or self.repository.is_bare
        read = self._reader(from_git=staged or in_commit)

        def find_spans(filters: Filters, blobs: Mapping[str, str]) -> Spans:
            # Imported here: parsers are a sixth of what a search costs, and most searches have no such filter.
            from codesearch.selecting import Selector

            place = Place.COMMIT if in_commit else Place.INDEX if staged else Place.WORKTREE
            searched = Side(place, at or place.value, commit)
            return Selector(self.repository, self._comparer, read, searched, progress).find_spans(filters, blobs)

        return Searcher(corpus, self._embedder, read, commit, find_spans, reranker)

    def _analyser(self, known: KnownVectors) -> Analyser:
        from codesearch.analysis import Analyser

        return Analyser(self.language_set, self._embedder, known)

    def _reader(self, *, from_git: bool) -> Callable[[str, str], bytes | None]:
        """Reads what a hit cites; None when it is not the content that was indexed.

        A hit in the working tree must be there as it was indexed; one in a revision or in the index may be read
        from git's objects.
        """

        def read(path: str, blob: str) -> bytes | None:
            if from_git:
                content = next(self.repository.read_entries([Entry(path, blob)]))
                return content if isinstance(content, bytes) else None
            try:
                content = self.repository.read_file(path, max_bytes=self.settings.max_file_bytes)
            except (OSError, RepositoryError):
                return None  # gone since the view was made: the hit is left out
            return content if self.repository.blob_id(content) == blob else None

        return read

    # --- looking around --------------------------------------------------------------------------------------

    def has_index(self) -> bool:
        """Whether anything of this repository has been indexed and not been cleaned away."""
        return (self.home / "pointers").is_dir()

    def index_bytes(self) -> int:
        """What the index occupies on disk, and `clean` would free."""
        from codesearch.view.published import folder_bytes

        return folder_bytes(self.home)

    def status(self) -> Status:
        """The state of the index beside the state of the repository; indexes nothing."""
        from codesearch.holdings import holdings_of
        from codesearch.overlay import find_difference
        from codesearch.view.published import folder_bytes

        view = self._last_view()
        indexed = view.meta.get("commit") if view else None
        changes = self._corpora.start_changes(view)()
        stale: tuple[str, ...] = ()
        if view is not None:
            difference = find_difference(view, self.repository, self.settings, changes, limited=False)
            stale = tuple(sorted(difference.paths))
        behind = self.repository.commits_behind(indexed) if indexed and changes.commit else None
        held = holdings_of(view)
        return Status(
            commit=changes.commit,
            ref=changes.ref,
            dirty=changes.dirty,
            index_commit=indexed,
            behind=behind,
            stale_files=stale,
            files=held.files,
            declarations=held.declarations,
            chunks=held.chunks,
            skipped=tuple(held.skipped),
            model=self._embedder.model_id,
            store_bytes=folder_bytes(self.home / "store"),
            view_bytes=folder_bytes(self.home / "segments") + folder_bytes(self.home / "views"),
            location=str(self.home),
        )

    def _last_view(self) -> View | None:
        """The view of the working tree as it was last indexed, if there is one."""
        try:
            return self._corpora.view(self._corpora.pointer())
        except CorruptIndexError:
            return None

    @cached_property
    def _browser(self) -> Browser:
        from codesearch.browsing import Browser

        return Browser(self.repository, self.language_set, self.settings)

    def symbols(self, prefix: str, *, path: str | None = None, limit: int = 200) -> list[str]:
        """Symbols that begin so, of all files or of one, as last indexed; indexes nothing."""
        from codesearch.view.symbols import symbols_starting

        view = self._views.open(self._corpora.pointer())
        return [] if view is None else symbols_starting(view, prefix, path=path, limit=limit)

    def outline(self, paths: Sequence[str], *, progress: ProgressCallback | None = None) -> tuple[FileOutline, ...]:
        """The declarations of files, read from the working tree as it is; a folder stands for its files."""
        return self._browser.outline(paths, progress)

    def show(self, location: str) -> Shown:
        """The declaration or the lines at a location: FILE:LINE, FILE:A-B, FILE#symbol, REV:FILE:LINE."""
        return self._browser.show(location)

    def lines(self, path: str) -> tuple[str, ...]:
        """A file of the working tree as it is, or of HEAD in a bare repository; LocationError if it is not text."""
        return self._browser.lines(path)

    def paths(self) -> tuple[str, ...]:
        """The files of the working tree's index, sorted; none where there is no index."""
        view = self._last_view()
        return tuple(sorted(view.table.paths.to_list())) if view is not None else ()

    def languages(self) -> tuple[LanguageInfo, ...]:
        """Every language that codesearch knows, with what the index has of it."""
        from codesearch.holdings import holdings_of

        view = self._last_view()
        held = holdings_of(view)
        return tuple(
            LanguageInfo(
                language.name,
                language.extensions,
                language.kinds,
                None if view is None else held.files_of[language.name],
                None if view is None else held.declarations_of[language.name],
                language.filenames,
            )
            for language in self.language_set
        )


def _refuse_symlinks(home: Path) -> None:
    """An index that came with a repository must not lead its writer, or `clean`, to files elsewhere."""
    for path in home.rglob("*"):
        if path.is_symlink():
            raise RepositoryError(f"{path} is a symbolic link.", "Remove it, or set CODESEARCH_HOME.")


def _came_from_arrays(error: BaseException) -> bool:
    """Whether an error was raised while arrays were read: the sign of damage inside a mapped file."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = traceback.tb_frame.f_globals.get("__name__", "") if traceback else ""
    return name.startswith(
        ("codesearch.view", "codesearch.searching", "codesearch.retrieval", "codesearch.overlay", "numpy")
    )
