"""Gathers what the user has set: defaults, configuration files, environment, flags. Knows no repository.

Later sources win, key by key:

    defaults
    < <user config dir>/codesearch/config.toml   trusted; every key
    < <root>/.codesearch.toml                    not trusted: exclude, grammars, top_k only
    < CODESEARCH_<KEY> in the environment        every key; globs separated by commas
    < flags

A repository's file may narrow what is indexed and add language files of its own, nothing else: `home` would
make us write anywhere, `model` and `rerank` would make us load or download weights that its author chose, `jobs`,
`max_file_bytes` and `max_index_bytes` would let it take the machine. Its `grammars` folder must lie inside the
repository; language files are data, and name bundled grammars only.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from codesearch.errors import SettingsError

USER_FILE = "config.toml"
REPOSITORY_FILE = ".codesearch.toml"
ENVIRONMENT_PREFIX = "CODESEARCH_"
COLORS = ("auto", "always", "never")
MAX_CONFIG_BYTES = 64 * 1024  # a repository's file is hostile input; real ones have a few lines
LARGEST_TOP_K = 1000  # more hits than anyone reads; keeps a typing error from printing a repository
LARGEST_JOBS = 256  # more workers than any machine we know has cores


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user has decided; the same for every command.

    `home` is the folder that holds indexes, or None for the git directory itself (or the user cache directory
    where there is none). `model` names an embedding model, or is None for the one that ships. `rerank` names a
    CrossEncoder that puts the best hits into its own order, or is None ("none" in a source) for none. `jobs` is the
    number of worker processes, 0 for one per available core. Above `max_index_bytes`, an index run lets go of what
    nothing uses. `exclude` are globs of paths never indexed.
    `grammars` is a folder of further language files.
    """

    home: Path | None = None
    model: str | None = None
    rerank: str | None = None
    jobs: int = 0
    max_file_bytes: int = 4 * 1024 * 1024  # hand-written source above this was not seen; data files are
    max_index_bytes: int = 4 << 30  # ten to twenty times the largest index of those in docs/measurements.md
    exclude: tuple[str, ...] = ()
    top_k: int = 10
    color: str = "auto"
    hyperlink: str = "never"
    grammars: Path | None = None


REPOSITORY_KEYS = frozenset({"exclude", "grammars", "top_k"})
KEYS = tuple(field.name for field in fields(Settings))


def load_settings(
    root: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config_dir: Path | None = None,
    **flags: Any,
) -> Settings:
    """The settings in force for the repository at `root`, or for none.

    `environment` is `os.environ` unless given, `config_dir` the user's configuration folder. A flag that is
    None was not given. Raises SettingsError that names the file, the key and the fix.
    """
    settings = Settings()
    user_file = (config_dir or _user_config_dir()) / USER_FILE
    if user_file.is_file():
        settings = with_file(settings, user_file)
    if root is not None:
        settings = _with_repository_file(settings, root)
    settings = _with_environment(settings, os.environ if environment is None else environment)
    return replace(settings, **{key: value for key, value in flags.items() if value is not None})


def with_file(settings: Settings, path: Path) -> Settings:
    """The settings with what a trusted file sets; SettingsError that names the file, the key and the fix."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}.", "Correct its permissions or remove it."
        ) from error
    values = {}
    for key, value in _parse(path, content).items():
        if key not in KEYS:
            raise _unknown_key(str(path), key, KEYS)
        values[key] = _CHECKS[key](_Source(str(path), key, path.parent), value)
    return replace(settings, **values)


def _user_config_dir() -> Path:
    import platformdirs  # here, so that reading Settings as a type costs nothing

    return platformdirs.user_config_path("codesearch", appauthor=False)


# --- sources ------------------------------------------------------------------------------------------------


def _with_repository_file(settings: Settings, root: Path) -> Settings:
    path = root / REPOSITORY_FILE
    content = _read_untrusted(path)
    if content is None:
        return settings
    for key, value in _parse(path, content).items():
        if key not in KEYS:
            raise _unknown_key(str(path), key, tuple(sorted(REPOSITORY_KEYS)))
        if key not in REPOSITORY_KEYS:
            raise SettingsError(
                f"{path}: `{key}` may not be set by a repository.",
                f"Move it to {_user_config_dir() / USER_FILE}, or set {ENVIRONMENT_PREFIX}{key.upper()}.",
            )
        source = _Source(str(path), key, root)
        if key == "grammars":
            settings = replace(settings, grammars=_folder_inside(source, root, value))
        elif key == "exclude":
            settings = replace(settings, exclude=(*settings.exclude, *_globs(source, value)))
        else:
            settings = replace(settings, **{key: _CHECKS[key](source, value)})
    return settings


def _with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    values = {}
    for key in KEYS:
        name = ENVIRONMENT_PREFIX + key.upper()
        text = environment.get(name, "")
        if not text:  # set to nothing is the shell's way to unset it for one command
            continue
        value: object = text
        if key in _NUMBERS:
            try:
                value = int(text)
            except ValueError:
                raise SettingsError(f"{name} must be a whole number.", f"Example: {name}=4") from None
        elif key == "exclude":
            value = [glob for glob in text.split(",") if glob]
        values[key] = _CHECKS[key](_Source("", name, Path.cwd()), value)
    return replace(settings, **values)


def _read_untrusted(path: Path) -> bytes | None:
    """The content of a file that came with a repository, or None where there is none.

    A symlink could lead out of the repository and a FIFO would block for ever, so
    only a regular file is read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return None
        raise SettingsError(f"{path} is not a readable file.", "Replace it by a regular file, or remove it.") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SettingsError(f"{path} is not a regular file.", "Replace it by one, or remove it.")
        content = file.read(MAX_CONFIG_BYTES + 1)
    if len(content) > MAX_CONFIG_BYTES:
        raise SettingsError(
            f"{path} is larger than {MAX_CONFIG_BYTES // 1024} KiB.",
            "Shorten it; a broad glob says more than a list of files.",
        )
    return content


def _parse(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # only where a configuration file exists

    try:
        return tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(
            f"{path} is not valid TOML: {error}.", 'Write one `key = value` a line, strings in "quotes".'
        ) from error


# --- checks: one per key, from what a source says to what Settings holds ------------------------------------


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a value was written: what an error names, and what a relative path starts from."""

    file: str
    key: str
    folder: Path

    def wrong(self, expected: str, example: str) -> SettingsError:
        if not self.file:  # an environment variable has no TOML quoting
            return SettingsError(f"{self.key} must be {expected}.", f"Example: {self.key}={example}")
        value = example if example.startswith("[") or example.isdigit() else f'"{example}"'
        return SettingsError(f"{self.file}: `{self.key}` must be {expected}.", f"Example: {self.key} = {value}")

    def path(self, text: str) -> Path:
        return Path(os.path.normpath(self.folder / Path(text).expanduser()))


def _number(lowest: int, highest: int, example: int) -> Callable[[_Source, Any], int]:
    def check(source: _Source, value: Any) -> int:
        # bool is an int in Python, and `jobs = true` is surely a mistake
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            raise source.wrong(f"a whole number from {lowest} to {highest}", str(example))
        return value

    return check


def _home(source: _Source, value: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise source.wrong("a folder", "~/.cache/codesearch")
    return source.path(value)


def _model(source: _Source, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise source.wrong("the name or the folder of a model", "all-MiniLM-L6-v2")
    return value


def _rerank(source: _Source, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise source.wrong("the name or the folder of a CrossEncoder, or none", "cross-encoder/ms-marco-MiniLM-L6-v2")
    return value


def _when(source: _Source, value: Any) -> str:
    if value not in COLORS:
        raise source.wrong(f"one of {', '.join(COLORS)}", COLORS[0])
    return str(value)


def _globs(source: _Source, value: Any) -> tuple[str, ...]:
    globs = [value] if isinstance(value, str) else value
    if not isinstance(globs, list) or not all(isinstance(glob, str) and glob for glob in globs):
        raise source.wrong("a list of globs", '["generated/**", "*.lock"]')
    return tuple(globs)


def _grammars(source: _Source, value: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise source.wrong("a folder of language files", "~/grammars")
    folder = source.path(value)
    if not folder.is_dir():
        raise SettingsError(
            f"{source.file or source.key}: the grammars folder {folder} does not exist.",
            "Create it, or correct `grammars`.",
        )
    return folder


def _folder_inside(source: _Source, root: Path, value: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise source.wrong("a folder of the repository", "tools/grammars")
    folder = (root / value).resolve()  # resolved, so that neither `..` nor a symlink leads out
    if not folder.is_relative_to(root.resolve()) or not folder.is_dir():
        raise SettingsError(
            f"{source.file}: `grammars` must be a folder inside the repository, not {value!r}.",
            "Give a path relative to the repository's root.",
        )
    return folder


_CHECKS: dict[str, Callable[[_Source, Any], Any]] = {
    "home": _home,
    "model": _model,
    "rerank": _rerank,
    "jobs": _number(0, LARGEST_JOBS, example=4),
    "max_file_bytes": _number(1, 1 << 40, example=4_194_304),
    "max_index_bytes": _number(1, 1 << 50, example=4_294_967_296),
    "exclude": _globs,
    "top_k": _number(1, LARGEST_TOP_K, example=10),
    "color": _when,
    "hyperlink": _when,
    "grammars": _grammars,
}
_NUMBERS = frozenset({"jobs", "max_file_bytes", "max_index_bytes", "top_k"})


def _unknown_key(place: str, key: str, known: tuple[str, ...]) -> SettingsError:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"Known keys: {', '.join(known)}."
    return SettingsError(f"{place}: unknown key `{key}`.", hint)
