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
from codesearch.settings import Settings
from codesearch.types import (
    Comparison,
    DeclarationChange,
    Place,
    Progress,
    ProgressCallback,
    Side,
    Skipped,
    SkipReason,
    Version,
)


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison, and the declarations of the new side that were compared, as they stand there."""

    comparison: Comparison
    new: tuple[Declared, ...]


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
        paths: dict[str, None] = {}
        skipped: list[Skipped] = []
        for number, (pair, contents) in enumerate(self._read(pairs)):
            if progress is not None:
                progress(Progress("comparing", number, len(pairs)))
            if contents[0] == contents[1] and (pair.old and pair.old.path) == (pair.new and pair.new.path):
                continue  # git reports files as well that were only written anew
            for version, content, side, found in zip(
                (pair.old, pair.new), contents, (old, new), (before, after), strict=True
            ):
                if version is None or content is None:
                    continue
                paths[version.path] = None
                reason = self._too_large(content) or classify(
                    version.path, content, self._languages.for_path(version.path, content)
                )
                if reason is not None:
                    skipped.append(Skipped(version.path, reason))
                    continue
                cite = self._citing(side, version, content, is_new=found is after)
                found += self._declared(version.path, content, number, cite)
        changes = sorted(match(before, after), key=_place)
        with_changes = {version.path for each in changes for version in (each.old, each.new) if version}
        left_out = {each.path for each in skipped}
        elsewhere = tuple(sorted(path for path in paths if path not in with_changes | left_out))
        unique = tuple(sorted(set(skipped), key=lambda each: each.path))
        return Compared(Comparison(old, new, tuple(changes), elsewhere, unique), tuple(after))

    def declared(self, path: str, content: bytes) -> list[Declared]:
        """The declarations of any content, to be held against those that were compared."""
        return list(self._declared(path, content, 0, ""))

    def _declared(self, path: str, content: bytes, number: int, cite: str) -> Iterator[Declared]:
        outline = outline_of(self._languages, path, content)
        for index, each in enumerate(outline.declarations):
            span = each.span
            version = Version(
                path, span.start_line, span.end_line, each.symbol, each.qualified_name, each.kind, outline.language,
                f"{cite}{path}:{span.start_line}-{span.end_line}",
            )  # fmt: skip
            yield declared(version, number, content, outline.declarations, index)

    def _read(self, pairs: Sequence[FilePair]) -> Iterator[tuple[FilePair, tuple[bytes | None, bytes | None]]]:
        """The contents of both sides; None where there is no file. Blobs are asked for in one go."""
        oids = [version.oid for pair in pairs for version in (pair.old, pair.new) if version and version.oid]
        blobs = self._repository.read_blobs(oids)

        def read(version: FileVersion | None) -> bytes | None:
            if version is None:
                return None
            if not version.oid:
                return self._worktree_file(version.path)
            oid, content = next(blobs)
            if content is None:
                raise RepositoryError(
                    f"{version.path} cannot be compared: this clone lacks the object {oid[:12]}.",
                    "In a partial clone, check the revision out once; or run: git fetch --refetch",
                )
            return content

        for pair in pairs:
            yield pair, (read(pair.old), read(pair.new))

    def _worktree_file(self, path: str) -> bytes | None:
        try:
            return self._repository.read_file(path)
        except (OSError, RepositoryError):
            return None  # deleted, or no regular file any more

    def _citing(self, side: Side, version: FileVersion, content: bytes, *, is_new: bool) -> str:
        """What stands before the path in a citation of a side: nothing where the work tree has these very lines."""
        if side.place is Place.WORKTREE:
            return ""
        if is_new and not self._repository.is_bare:
            there = self._worktree_file(version.path)
            if there is not None and there.replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n"):
                return ""
        return ":" if side.place is Place.INDEX else f"{side.name}:"

    def _too_large(self, content: bytes) -> SkipReason | None:
        return SkipReason.TOO_LARGE if len(content) > self._settings.max_file_bytes else None

    def _is_excluded(self, path: str) -> bool:
        return any(fnmatch(path, glob) for glob in self._settings.exclude)


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
