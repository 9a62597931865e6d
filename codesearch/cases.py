"""Reads and writes golden files: queries and the places that answer them, as TOML or as JSON lines.

    [[question]]
    query = "where are failed uploads retried"
    expected = ["src/upload.py#Uploader.retry"]

In a `.jsonl` file each line is one object with the same keys.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codesearch.errors import LocationError, UsageError
from codesearch.evaluation import Case
from codesearch.locations import parse_location

_FORM = 'Write [[question]] tables with query = "…" and expected = ["FILE#symbol", …], or such objects as JSON lines.'


def read_cases(path: Path) -> list[Case]:
    """The cases of a golden file; UsageError that names the place of what is wrong with it."""
    try:
        content = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _FORM) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text.", _FORM) from error
    if not (cases := _parse(path, content)):
        raise UsageError(f"{path} has no questions.", _FORM)
    return cases


def _parse(path: Path, content: str) -> list[Case]:
    if path.suffix not in (".toml", ".jsonl"):
        raise UsageError(f"{path} is neither .toml nor .jsonl.", _FORM)
    try:
        if path.suffix == ".jsonl":  # not splitlines(), which also splits at characters that JSON leaves as they are
            rows = [json.loads(line) for line in content.split("\n") if line.strip()]
        else:
            rows = tomllib.loads(content).get("question", [])
    except (ValueError, RecursionError) as error:  # of json and of tomllib
        raise UsageError(f"{path}: {error}", _FORM) from error
    if not isinstance(rows, list):
        raise UsageError(f"{path}: `question` is no list of tables.", _FORM)
    return [_case(row, path, number) for number, row in enumerate(rows, 1)]


def _case(row: Any, path: Path, number: int) -> Case:
    fits = isinstance(row, dict) and isinstance(row.get("query"), str) and row["query"].strip()
    expected = row.get("expected") if fits else None
    if isinstance(expected, str):
        expected = [expected]
    if not isinstance(expected, list) or not expected or not all(isinstance(e, str) and e.strip() for e in expected):
        raise UsageError(f"{path}: question {number} has no query or no expected places.", _FORM)
    for place in expected:
        try:
            parse_location(place, lambda _: False)
        except LocationError as error:
            raise UsageError(f"{path}: question {number}: {error.message}", error.hint) from error
    at = row.get("at")
    return Case(row["query"].strip(), tuple(expected), at if isinstance(at, str) else None)


def append_cases(path: Path, cases: Sequence[Case]) -> int:
    """Adds cases to a golden file, which is made where it is missing; what stands in it is left as it is.

    A case whose query it has already, of the same revision, is not added. Returns how many were.
    """
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        known = {(case.query, case.at) for case in _parse(path, before.removeprefix("\ufeff"))}
        new = [case for case in cases if (case.query, case.at) not in known]
        added = "".join(_written(path, case, is_first=not before and case is new[0]) for case in new)
        text = f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{added}"
        _parse(path, text.removeprefix("\ufeff"))  # `question = […]` cannot be added to by a table
        added = text[len(before) :]
        with path.open("a", encoding="utf-8") as file:
            file.write(added)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.", "Give a file in a folder that is there."
        ) from error
    except UnicodeError as error:
        raise UsageError(f"A question or an answer of {path} is no valid text.", _FORM) from error
    return len(new)


def _written(path: Path, case: Case, *, is_first: bool) -> str:
    row = {"query": case.query, "expected": list(case.expected)} | ({"at": case.at} if case.at else {})
    if path.suffix == ".jsonl":
        return json.dumps(row, ensure_ascii=False) + "\n"
    # A JSON string is a TOML basic string, but for a DEL, which TOML wants escaped.
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f") for key, value in row.items()
    ]
    return "\n".join([*([] if is_first else [""]), "[[question]]", *lines]) + "\n"
