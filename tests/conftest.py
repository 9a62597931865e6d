"""What all tests share: a hermetic environment, and fixture repositories with real history."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from replay import hermetic_environment, replay

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported, which may be before any fixture


@pytest.fixture(scope="session", autouse=True)
def hermetic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the user's own git configuration, caches, settings or models."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith(("GIT_", "CODESEARCH_")):
                patch.delenv(name)
        for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"):
            patch.delenv(name, raising=False)
        for name, value in hermetic_environment().items():
            patch.setenv(name, value)
        patch.setenv("HOME", str(home))
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(home / name.lower()))
        for name in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{name}_NAME", "Tess Ter")
            patch.setenv(f"GIT_{name}_EMAIL", "tess@example.org")
        yield


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Callable[[str], Path]:
    """Fixture repositories to read from only: each is replayed once per test run."""
    root = tmp_path_factory.mktemp("replayed")

    def replay_once(name: str) -> Path:
        repository = root / name
        return repository if repository.exists() else replay(name, repository)

    return replay_once


@pytest.fixture
def fixture_repository(replayed: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """`fixture_repository("thumbnails")` is a fresh copy at its last commit, to be changed at will."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(replayed(name), tmp_path / name, symlinks=True))

    return copy
