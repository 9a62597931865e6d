"""What queries are answered from: published views, with what has changed since laid over them, kept between queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING

from codesearch.errors import CorruptIndexError
from codesearch.repository import Changes, Repository
from codesearch.repository.dates import git_date
from codesearch.settings import Settings
from codesearch.types import Embedder, ProgressCallback, SnapshotInfo
from codesearch.version import __version__

if TYPE_CHECKING:
    from codesearch.analysis import Analyser
    from codesearch.overlay import Difference
    from codesearch.view.corpus import Corpus
    from codesearch.view.published import View, ViewFolder
    from codesearch.view.vectors import KnownVectors

_SHORT = 12  # digits of a commit's id, enough for the largest repositories
Publish = Callable[[str | None, bool, ProgressCallback | None], object]


class Corpora:
    """The corpora of one repository: of its working tree, of what is staged, of revisions."""

    def __init__(
        self,
        repository: Repository,
        settings: Settings,
        views: ViewFolder,
        embedder: Callable[[], Embedder],
        analyser: Callable[[KnownVectors], Analyser],
        publish: Publish,
    ) -> None:
        """`publish` indexes a commit (None: no certain one), or what is staged, where there is no view of it.

        `embedder` is asked for when it is needed: git can work while a model is loaded.
        """
        self.repository = repository
        self.settings = settings
        self._views = views
        self._embedder = embedder
        self._analyser = analyser
        self._publish = publish
        self._cached: tuple[str, View] | None = None
        self._laid: tuple[tuple[object, ...], Corpus] | None = None
        self._seen: tuple[float, tuple[Corpus, SnapshotInfo, str | None]] | None = None
        self._doubtful: frozenset[str] = frozenset()  # proved to be stale where git saw no change

    def forget(self) -> None:
        """Nothing that was kept is used again."""
        self._cached = self._seen = None

    def doubt(self, paths: Iterable[str]) -> None:
        """These files do not hold what was indexed, whatever git says."""
        self._doubtful |= set(paths)

    def trust(self) -> None:
        """Everything has been indexed anew."""
        self._doubtful = frozenset()

    def pointer(self, staged: bool = False, at: str | None = None) -> str:
        """The name under which a snapshot's view is published: one per worktree, revision and model."""
        name = f"at-{at}" if at else self.repository.worktree_key + ("-staged" if staged else "")
        if self.settings.model is None:
            return name
        return f"{name}-{blake2b(self.settings.model.encode(), digest_size=4).hexdigest()}"

    def corpus(
        self, staged: bool, at: str | None, update: bool, progress: ProgressCallback | None, fresh_for: float = 0.0
    ) -> tuple[Corpus, SnapshotInfo, str | None]:
        """What a query is answered from, and the state of the repository that this is."""
        if staged or at is not None or self.repository.is_bare:
            bare = "HEAD" if self.repository.is_bare else None
            return self._fixed(staged, bare if at is None else at, progress)
        if update and self._seen is not None and time.monotonic() - self._seen[0] < fresh_for:
            return self._seen[1]
        pointer = self.pointer()
        wait = None
        pointed = self._views.read_pointer(pointer)
        if pointed is not None and update:
            # git works while numpy is loaded and the view is mapped.
            wait = self.repository.start_changes(pointed[1], pointed[2])
        view = self.view(pointer)
        if view is None:
            self._publish(None, False, progress)
            view = self.require_view(pointer)
            wait = self.start_changes(view) if update else None
        elif wait is not None and pointed is not None and pointed[0] != view.name:
            wait()  # another process has published since: git was asked about a commit that this view does not show
            wait = self.start_changes(view)
        if wait is None:
            commit = view.meta.get("commit")
            return (
                self._remembered(view),
                SnapshotInfo(commit, view.meta.get("ref"), bool(view.meta.get("dirty")), commit),
                commit,
            )
        found = self._current(pointer, view, wait(), progress)
        self._seen = time.monotonic(), found
        return found

    def _current(
        self, pointer: str, view: View, changes: Changes, progress: ProgressCallback | None
    ) -> tuple[Corpus, SnapshotInfo, str | None]:
        from codesearch.overlay import find_difference, remarks

        moved = changes.outside != view.meta.get("outside", "")
        if self.repository.is_git and (moved or not changes.complete):
            self._publish(None, False, progress)
            view = self.require_view(pointer)
            changes = self.start_changes(view)()
        difference = find_difference(view, self.repository, self.settings, changes, doubtful=self._doubtful)
        slow = self.settings.model is not None and len(difference.edited) > 0
        if difference.too_many or slow or remarks(view, difference):
            self._publish(None, False, progress)
            view = self.require_view(pointer)
            changes = self.start_changes(view)()
            difference = find_difference(view, self.repository, self.settings, changes, limited=False)
        corpus = self._remembered(view, difference)
        info = SnapshotInfo(changes.commit, changes.ref, changes.dirty, view.meta.get("commit"))
        return corpus, info, changes.commit

    def start_changes(self, view: View | None) -> Callable[[], Changes]:
        """Asks git what has changed since a view was made; call what is returned for the answer."""
        if view is None:
            return self.repository.start_changes(None)
        return self.repository.start_changes(view.meta.get("commit"), view.meta.get("submodules", {}))

    def _fixed(
        self, staged: bool, at: str | None, progress: ProgressCallback | None
    ) -> tuple[Corpus, SnapshotInfo, str | None]:
        commit = self.repository.resolve(at) if at is not None else None
        pointer = self.pointer(staged, commit)
        view = None if staged else self.view(pointer)
        if view is None:
            self._publish(commit, staged, progress)
            view = self.require_view(pointer)
        shown = view.meta.get("commit")
        # A date moves on: what is found is cited by the commit.
        ref = view.meta.get("ref") if not at else at if git_date(at) is None else str(commit)[:_SHORT]
        return self._remembered(view), SnapshotInfo(shown, ref, False, shown), shown

    def _remembered(self, view: View, difference: Difference | None = None) -> Corpus:
        """The corpus of a view under an overlay, kept for the next query: most follow each other unchanged."""
        from codesearch.overlay import lay_over

        key: tuple[object, ...] = (view.name,)
        if difference is not None:
            key = (view.name, difference.gone, tuple(sorted(difference.edited.items())))
        if self._laid is None or self._laid[0] != key:
            corpus = (
                view.corpus()
                if difference is None or not difference.paths
                else lay_over(view, difference, self.repository, self._embedder(), self._analyser)
            )
            self._laid = key, corpus
        return self._laid[1]

    def view(self, pointer: str) -> View | None:
        """The published view; None when there is none, or when it was made with another model or language set."""
        name = self._views.pointed(pointer)
        if self._cached is not None and self._cached[0] == name:
            return self._cached[1]
        view = self._views.open(pointer)
        if view is None or view.meta.get("model") != self._embedder().model_id:
            return None
        if view.meta.get("version") != __version__:  # another release may parse, cut or count otherwise
            return None
        if view.meta.get("exclude") != list(self.settings.exclude):
            return None
        self._cached = view.name, view
        return view

    def require_view(self, pointer: str) -> View:
        """The published view; CorruptIndexError when it cannot be read."""
        view = self.view(pointer)
        if view is None:
            raise CorruptIndexError("The index could not be read back.", "Run: codesearch clean, then try again.")
        return view
