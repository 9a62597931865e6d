"""The pictures of the README: made from the real program, self-contained, and there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from terminals import PROJECT

from codesearch import Engine


def test_picture_shows_what_the_program_prints_and_asks_no_server_for_fonts(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("pictures", PROJECT / "docs" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(pictures)  # type: ignore[union-attr]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "a.py").write_text("def retry_upload():\n    return '<&>'\n")
    Engine.open(tmp_path).index()
    svg = pictures.picture(["retry upload", "-k", "1"], tmp_path)
    shown = "".join(ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")
    for part in ("codesearch 'retry upload' -k 1", "a.py:1-2", "retry_upload", "'<&>'"):
        assert part in shown
    assert re.findall(r"https?://(?!www\.w3\.org/|www\.textualize\.io)", svg) == []


def test_readme_shows_pictures_that_are_there() -> None:
    names = re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", (PROJECT / "README.md").read_text())
    assert names
    assert [name for name in names if not (PROJECT / name).is_file()] == []
