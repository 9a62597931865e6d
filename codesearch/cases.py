"""Reads and writes golden files: queries and the places that answer them, as TOML or as JSON lines.

    [[question]]
    query = "where are failed uploads retried"
    expected = ["src/upload.py#Uploader.retry"]

In a `.jsonl` file each line is one object with the same keys.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from codesearch.errors import UsageError
from codesearch.evaluation import Case

_FORM = 'Write [[question]] tables with query = "…" and expected = ["FILE#symbol", …], or such objects as JSON lines.'


def read_cases(path: Path) -> list[Case]:
    """The cases of a golden file; UsageError that names the place of what is wrong with it."""
    try:
        content = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _FORM) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text.", _FORM) from error
    try:
        if path.suffix == ".jsonl":
            rows = [json.loads(line) for line in content.splitlines() if line.strip()]
        else:
            rows = tomllib.loads(content).get("question", [])
    except ValueError as error:  # of json and of tomllib
        raise UsageError(f"{path}: {error}", _FORM) from error
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{path} has no questions.", _FORM)
    return [_case(row, path, number) for number, row in enumerate(rows, 1)]


def _case(row: Any, path: Path, number: int) -> Case:
    fits = isinstance(row, dict) and isinstance(row.get("query"), str) and row["query"].strip()
    expected = row.get("expected") if fits else None
    if isinstance(expected, str):
        expected = [expected]
    if not isinstance(expected, list) or not expected or not all(isinstance(e, str) and e.strip() for e in expected):
        raise UsageError(f"{path}: question {number} has no query or no expected places.", _FORM)
    at = row.get("at")
    return Case(row["query"].strip(), tuple(expected), at if isinstance(at, str) else None)


def append_case(path: Path, case: Case) -> None:
    """Adds a case to a golden file, which is made where it is missing; what stands in it is left as it is."""
    row = {"query": case.query, "expected": list(case.expected)} | ({"at": case.at} if case.at else {})
    if path.suffix == ".jsonl":
        text = json.dumps(row, ensure_ascii=False) + "\n"
    else:
        # A JSON string is a TOML basic string, but for a DEL, which TOML wants escaped.
        lines = [
            f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f") for key, value in row.items()
        ]
        text = "\n".join(["[[question]]", *lines]) + "\n"
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        gap = "" if not before or path.suffix == ".jsonl" else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(("" if not before or before.endswith("\n") else "\n") + gap + text)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.", "Give a file in a folder that is there."
        ) from error
