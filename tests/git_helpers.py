"""Makes real git repositories for tests, untouched by the configuration of whoever runs them."""

import os
import subprocess
from pathlib import Path

_HERMETIC = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2024-05-06T07:08:09+02:00",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2024-05-06T07:08:09+02:00",
    "LC_ALL": "C",
}


def git(folder: Path, *args: str | bytes, ok: tuple[int, ...] = (0,)) -> str:
    """What git prints, run in a folder; submodules and clones may use local paths."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _HERMETIC
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode in ok, done.stderr.decode(errors="replace")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    """Writes files below a folder, making the folders that they need."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def init(folder: Path, files: dict[str, str | bytes] | None = None, *options: str) -> Path:
    """A new repository; with files, they are its first commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", *options)
    if files is not None:
        write(folder, files)
        commit(folder)
    return folder


def commit(folder: Path, message: str = "change") -> str:
    """Commits everything in the work tree and gives the commit's id."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
