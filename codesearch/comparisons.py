"""Compares two snapshots: reads and parses the files that differ, and says what became of each declaration.

Needs no index. Matching itself is pure and done elsewhere; here contents are read and places cited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch

from codesearch.analysis import classify
from codesearch.errors import RepositoryError
from codesearch.languages import Languages
from codesearch.matching import Declared, declared, match
from codesearch.outlining import outline_of
from codesearch.repository import FilePair, FileVersion, Repository
from codesearch.results import Comparison, DeclarationChange, Version
from codesearch.settings import Settings
from codesearch.types import Place, Progress, ProgressCallback, Side, Skipped, SkipReason


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison, and the declarations of the new side that were compared, as they stand there."""

    comparison: Comparison
    new: tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """A file of one side, or why there is nothing of it to compare."""

    path: str
    content: bytes
    skip: SkipReason | None


class Comparer:
    """Compares snapshots of one repository."""

    def __init__(self, repository: Repository, languages: Languages, settings: Settings) -> None:
        self._repository = repository
        self._languages = languages
        self._settings = settings

    def compare(self, text: str, progress: ProgressCallback | None = None) -> Compared:
        """What differs in a range: `A..B`, `A...B`, `REV`, `staged`, `unstaged`; RevisionError if it is none."""
        old, new = self._repository.read_range(text)
        pairs = [
            pair
            for pair in self._repository.differing_files(old, new)
            if not all(self._is_excluded(version.path) for version in (pair.old, pair.new) if version)
        ]
        before: list[Declared] = []
        after: list[Declared] = []
        paths: set[str] = set()
        skipped: set[Skipped] = set()
        for number, (one, other) in enumerate(self._read(pairs)):
            if progress is not None:
                progress(Progress("comparing", number, len(pairs)))
            if one and other and (one.path, one.content) == (other.path, other.content):
                continue  # git reports files as well that were only written anew
            both = [file for file in (one, other) if file]
            reasons = {Skipped(file.path, file.skip) for file in both if file.skip}
            if reasons:  # of one side; the other could only seem to be new, or gone
                skipped |= reasons
                continue
            paths |= {file.path for file in both}
            if one:
                before += self._declared(one, number, _old_prefix(old))
            if other:
                after += self._declared(other, number, self._new_prefix(new, other))
        changes = sorted(match(before, after), key=_place)
        paths -= {version.path for each in changes for version in (each.old, each.new) if version}
        unread = tuple(sorted(skipped, key=lambda each: each.path))
        return Compared(Comparison(old, new, tuple(changes), tuple(sorted(paths)), unread), tuple(after))

    def declared(self, path: str, content: bytes) -> list[Declared]:
        """The declarations of any content, to be held against those that were compared."""
        return list(self._declared(_File(path, content, None), 0, ""))

    def _declared(self, file: _File, number: int, prefix: str) -> Iterator[Declared]:
        outline = outline_of(self._languages, file.path, file.content)
        for index, each in enumerate(outline.declarations):
            span = each.span
            version = Version(
                file.path, span.start_line, span.end_line, each.symbol, each.qualified_name, each.kind,
                outline.language, f"{prefix}{file.path}:{span.start_line}-{span.end_line}",
            )  # fmt: skip
            yield declared(version, number, file.content, outline.declarations, index)

    def _read(self, pairs: Sequence[FilePair]) -> Iterator[tuple[_File | None, _File | None]]:
        """Both sides of each pair; None where there is no file. Blobs are asked for in one go."""
        oids = [version.oid for pair in pairs for version in (pair.old, pair.new) if version and version.oid]
        blobs = self._repository.read_blobs(oids, self._settings.max_file_bytes)

        def read(version: FileVersion | None) -> _File | None:
            if version is None:
                return None
            content = next(blobs)[1] if version.oid else self._worktree_file(version.path)
            if content is None:  # in the work tree: deleted in the meantime, or no regular file any more
                return _File(version.path, b"", SkipReason.UNREADABLE) if version.oid else None
            language = self._languages.for_path(version.path, content)
            return _File(version.path, content, classify(version.path, content, language))

        for pair in pairs:
            yield read(pair.old), read(pair.new)

    def _worktree_file(self, path: str) -> bytes | None:
        try:
            return self._repository.read_file(path, self._settings.max_file_bytes)
        except (OSError, RepositoryError):
            return None

    def _new_prefix(self, side: Side, file: _File) -> str:
        """What stands before the path in a citation: nothing where the work tree has these very lines."""
        if side.place is Place.WORKTREE:
            return ""
        there = None if self._repository.is_bare else self._worktree_file(file.path)
        if there is not None and there.replace(b"\r\n", b"\n") == file.content.replace(b"\r\n", b"\n"):
            return ""
        return _old_prefix(side)

    def _is_excluded(self, path: str) -> bool:
        return any(fnmatch(path, glob) for glob in self._settings.exclude)


def _old_prefix(side: Side) -> str:
    """A revision, or git's own sign for what is staged."""
    return ":" if side.place is Place.INDEX else f"{side.name}:"


def _place(change: DeclarationChange) -> tuple[str, int, int, bool]:
    """By file, then by line; what was removed stands where it stood. An enclosing one comes before its members."""
    shown = change.shown
    return shown.path, shown.start_line, -shown.end_line, change.new is None


def restricted(
    comparison: Comparison, paths: Sequence[str], languages: Sequence[str], kinds: Sequence[str]
) -> Comparison:
    """The changes, and the other files, that the filters admit; a change counts if either of its sides does."""

    def fits(version: Version | None) -> bool:
        return (
            version is not None
            and _is_inside(version.path, paths)
            and (not languages or version.language in languages)
            and (not kinds or version.kind in kinds)
        )

    return replace(
        comparison,
        changes=tuple(each for each in comparison.changes if fits(each.old) or fits(each.new)),
        elsewhere=() if languages or kinds else tuple(path for path in comparison.elsewhere if _is_inside(path, paths)),
        skipped=tuple(each for each in comparison.skipped if _is_inside(each.path, paths)),
    )


def has_file(comparison: Comparison, path: str) -> bool:
    """Whether a path is that of a differing file on one of the sides, or of a folder around one."""
    versions = (version for each in comparison.changes for version in (each.old, each.new) if version)
    files = (
        *(version.path for version in versions),
        *comparison.elsewhere,
        *(each.path for each in comparison.skipped),
    )
    return any(_is_inside(file, (path,)) for file in files)


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    return not folders or any(path == folder or path.startswith(f"{folder}/") for folder in folders)
