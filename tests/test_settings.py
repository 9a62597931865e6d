"""Settings: which source wins, and what an untrusted repository may say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codesearch.errors import SettingsError
from codesearch.settings import Settings, load_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def test_without_any_source_the_defaults_hold(root: Path, config: Path) -> None:
    assert load_settings(root, environment={}, config_dir=config) == Settings()


def test_each_source_wins_over_the_one_before(root: Path, config: Path) -> None:
    (config / "config.toml").write_text('top_k = 11\njobs = 2\ncolor = "never"\nmodel = "minilm"\n')
    (root / ".codesearch.toml").write_text("top_k = 12\n")
    environment = {"CODESEARCH_JOBS": "3", "CODESEARCH_COLOR": "always"}

    settings = load_settings(root, environment=environment, config_dir=config, color="auto", jobs=None)

    assert settings.model == "minilm"  # from the user's file
    assert settings.top_k == 12  # from the repository's file
    assert settings.jobs == 3  # from the environment; the flag was not given
    assert settings.color == "auto"  # from a flag


def test_a_repository_adds_to_what_the_user_excludes(root: Path, config: Path) -> None:
    (config / "config.toml").write_text('exclude = ["*.lock"]\n')
    (root / ".codesearch.toml").write_text('exclude = ["generated/**"]\n')

    assert load_settings(root, environment={}, config_dir=config).exclude == ("*.lock", "generated/**")


@pytest.mark.parametrize("line", ['home = "/tmp/x"', 'model = "evil/model"', "jobs = 99", "max_file_bytes = 9"])
def test_a_repository_may_not_set_what_could_harm(root: Path, config: Path, line: str) -> None:
    (root / ".codesearch.toml").write_text(line + "\n")
    key = line.split()[0]

    with pytest.raises(SettingsError, match=f"`{key}` may not be set by a repository") as caught:
        load_settings(root, environment={}, config_dir=config)
    assert f"CODESEARCH_{key.upper()}" in caught.value.hint


def test_a_repository_brings_grammars_only_from_inside(root: Path, config: Path) -> None:
    (root / "tools").mkdir()
    (root / ".codesearch.toml").write_text('grammars = "tools"\n')
    assert load_settings(root, environment={}, config_dir=config).grammars == root / "tools"

    (root / "link").symlink_to(config)
    for outside in ("../config", str(config), "link"):
        (root / ".codesearch.toml").write_text(f'grammars = "{outside}"\n')
        with pytest.raises(SettingsError, match="inside the repository"):
            load_settings(root, environment={}, config_dir=config)


def test_a_repository_file_that_is_a_symlink_or_a_pipe_is_not_read(root: Path, config: Path) -> None:
    (config / "secret.toml").write_text("top_k = 3\n")
    (root / ".codesearch.toml").symlink_to(config / "secret.toml")
    with pytest.raises(SettingsError, match="not a readable file"):
        load_settings(root, environment={}, config_dir=config)

    (root / ".codesearch.toml").unlink()
    os.mkfifo(root / ".codesearch.toml")
    with pytest.raises(SettingsError, match="not a regular file"):
        load_settings(root, environment={}, config_dir=config)


def test_a_huge_repository_file_is_refused(root: Path, config: Path) -> None:
    (root / ".codesearch.toml").write_text("# " + "x" * 70_000)
    with pytest.raises(SettingsError, match="larger than 64 KiB"):
        load_settings(root, environment={}, config_dir=config)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("topk = 3", "unknown key `topk`", "Did you mean `top_k`?"),
        ("top_k = 0", "`top_k` must be a whole number from 1 to 1000", "Example: top_k = 10"),
        ("jobs = true", "`jobs` must be a whole number from 0 to 256", "Example: jobs = 4"),
        ('color = "pink"', "`color` must be one of auto, always, never", 'Example: color = "auto"'),
        (
            "exclude = [1]",
            "`exclude` must be a list of globs",
            'Example: exclude = ["generated/**", "*.lock"]',
        ),
        ('grammars = "nowhere"', "does not exist", "Create it"),
        ("top_k = ", "is not valid TOML", "key = value"),
    ],
)
def test_errors_name_the_file_the_key_and_the_fix(config: Path, content: str, message: str, hint: str) -> None:
    (config / "config.toml").write_text(content)
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={}, config_dir=config)
    assert str(config / "config.toml") in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_environment_takes_lists_and_names_the_variable_in_errors(tmp_path: Path, config: Path) -> None:
    (tmp_path / "one").mkdir()
    environment = {
        "CODESEARCH_EXCLUDE": "*.lock,vendor/**",
        "CODESEARCH_GRAMMARS": str(tmp_path / "one"),
        "CODESEARCH_HOME": str(tmp_path / "home"),
        "CODESEARCH_MODEL": "",
    }
    settings = load_settings(environment=environment, config_dir=config)
    assert settings.exclude == ("*.lock", "vendor/**")
    assert settings.grammars == tmp_path / "one"
    assert settings.home == tmp_path / "home"
    assert settings.model is None

    with pytest.raises(SettingsError, match="CODESEARCH_JOBS must be a whole number"):
        load_settings(environment={"CODESEARCH_JOBS": "many"}, config_dir=config)


def test_paths_in_the_user_file_start_at_its_folder(config: Path) -> None:
    (config / "config.toml").write_text('home = "indexes"\n')
    assert load_settings(environment={}, config_dir=config).home == config / "indexes"


def test_the_user_file_is_found_in_the_configuration_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "codesearch").mkdir()
    (tmp_path / "codesearch" / "config.toml").write_text("top_k = 7\n")
    assert load_settings(environment={}).top_k == 7
