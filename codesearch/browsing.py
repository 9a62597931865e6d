"""Outlines of files and the code at a location, read from the repository as it is; needs no index."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codesearch.analysis import classify
from codesearch.errors import LocationError
from codesearch.languages import Languages
from codesearch.locations import find_lines, parse_location
from codesearch.outlining import outline_of
from codesearch.repository import Repository
from codesearch.results import FileOutline, Shown
from codesearch.settings import Settings
from codesearch.types import Progress, ProgressCallback, SkipReason


class Browser:
    """Looks at the files of one repository."""

    def __init__(self, repository: Repository, languages: Languages, settings: Settings) -> None:
        self._repository = repository
        self._languages = languages
        self._settings = settings

    def outline(self, paths: Sequence[str], progress: ProgressCallback | None = None) -> tuple[FileOutline, ...]:
        """The declarations of files, read from the working tree as it is; a folder stands for its files.

        LocationError for a file that is named and cannot be read as text; inside a folder it is passed over.
        """
        outlines = []
        files = self._expand(paths)
        for number, (path, is_named) in enumerate(files.items()):
            if progress is not None:
                progress(Progress("reading", number, len(files)))
            try:
                outlines.append(outline_of(self._languages, path, self._read_text(path)))
            except LocationError:
                if is_named:
                    raise
        return tuple(outlines)

    def _read_text(self, path: str) -> bytes:
        """A file of the working tree; LocationError says why it cannot be read as text."""
        limit = self._settings.max_file_bytes
        another = "Give a file inside the repository."
        try:
            content = self._repository.read_file(path, max_bytes=limit)
        except FileNotFoundError:
            raise LocationError(f"There is no file {path}.", another) from None
        except OSError as error:
            if (self._repository.root / path).is_symlink():
                message, hint = f"{path} is a symbolic link; they are not followed.", "Give the file that it leads to."
            elif error.errno == errno.EFBIG:
                message = f"{path} is larger than {limit:,} bytes."
                hint = "Raise the limit: set max_file_bytes, or CODESEARCH_MAX_FILE_BYTES in the environment."
            elif (self._repository.root / path).is_dir():
                message, hint = f"{path} is a folder.", f"See its files: codesearch outline {path}"
            else:
                message, hint = f"{path} cannot be read: {error.strerror or error}.", another
            raise LocationError(message, hint) from error
        _refuse_binary(content, path)
        return content

    def _expand(self, paths: Sequence[str]) -> dict[str, bool]:
        """Files inside the repository that paths name, and whether by themselves rather than through a folder."""
        files: dict[str, bool] = {}
        entries: list[str] | None = None
        for given in paths:
            path = self._inside(given)
            target = self._repository.root / path
            if target.is_symlink() or target.is_file():
                files[path] = True
            elif target.is_dir():
                if entries is None:
                    entries = [entry.path for entry in self._repository.snapshot().entries if entry.mode >> 12 == 8]
                inside = "" if path == "." else f"{path}/"
                for entry in entries:
                    if entry.startswith(inside) and self._languages.for_path(entry) is not None:
                        files.setdefault(entry, False)
            else:
                raise LocationError(f"There is no file {given}.", "Give a path inside the repository.")
        return files

    def _inside(self, given: str) -> str:
        """A path as it stands in the repository: given from the root, or from the current folder."""
        root = self._repository.root
        candidates = [root / given, Path.cwd() / given]
        inside = [
            resolved.relative_to(root).as_posix()
            for resolved in (Path(os.path.realpath(path.parent)) / path.name for path in candidates)
            if resolved.is_relative_to(root)
        ]
        for path in inside:
            if os.path.lexists(root / path):
                return path
        if inside:
            return inside[0]
        raise LocationError(f"{given} is outside the repository.", f"The repository is {root}.")

    def lines(self, path: str) -> tuple[str, ...]:
        """A file of the working tree as it is, or of HEAD in a bare repository; LocationError if it is not text."""
        content, _ = self._content_at("HEAD" if self._repository.is_bare else None, path)
        return tuple(_lines_of(content))

    def show(self, location: str) -> Shown:
        """The declaration or the lines at a location: FILE:LINE, FILE:A-B, FILE#symbol, REV:FILE:LINE.

        `:FILE:LINE` is what is staged.
        """
        bare = self._repository.is_bare
        where = parse_location(
            location, exists=lambda path: not bare and (self._repository.root / self._tidy(path)).is_file()
        )
        content, path = self._content_at("HEAD" if bare and where.revision is None else where.revision, where.path)
        outline = outline_of(self._languages, path, content)
        span, declaration = find_lines(replace(where, path=path), content, outline)
        lines = _lines_of(content)[span[0] - 1 : span[1]]
        return Shown(
            path=path if where.revision is None else f"{where.revision}:{path}",
            start_line=span[0],
            end_line=span[1],
            symbol=declaration.symbol if declaration else "",
            qualified_name=declaration.qualified_name if declaration else "",
            kind=declaration.kind if declaration else None,
            language=outline.language,
            signature=declaration.signature if declaration else "",
            lines=tuple(lines),
        )

    def _tidy(self, path: str) -> str:
        try:
            return self._inside(path)
        except LocationError:
            return path

    def _content_at(self, revision: str | None, given: str) -> tuple[bytes, str]:
        if revision is None:
            path = self._inside(given)
            return self._read_text(path), path
        snapshot = self._repository.snapshot(at=revision) if revision else self._repository.snapshot(staged=True)
        entry = next((entry for entry in snapshot.entries if entry.path == given and entry.mode != 0o160000), None)
        where = f"at {revision}" if revision else "staged"
        if entry is None:
            raise LocationError(f"There is no file {given} {where}.", "Give a path from the repository's root.")
        content = next(self._repository.read_entries([entry]))
        if not isinstance(content, bytes):
            raise LocationError(f"{given} {where} is {content.value}.", "Fetch its content with git first.")
        _refuse_binary(content, given)
        return content, given


def _lines_of(content: bytes) -> list[str]:
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    return [line.rstrip("\r") for line in text.split("\n")]


def _refuse_binary(content: bytes, path: str) -> None:
    reason = classify(path, content, None)
    if reason in (SkipReason.BINARY, SkipReason.UNDECODABLE):
        raise LocationError(f"{path} is {reason.value}.", "Only text in UTF-8, or in an encoding like it, is read.")
