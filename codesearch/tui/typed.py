"""Reads what stands in the input: words of a query, and filters such as `lang:go kind:method path:src/ tests:no`.

Pure. A word that looks like a filter but is none (`std:sort`, `http://…`) and anything in double quotes belongs to the
query. A value that is wrong, or not finished yet, is a problem of its chip and restricts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from codesearch.types import Filters, Kind

FIELDS = ("lang", "kind", "path", "glob", "symbol", "tests", "docs", "changed", "author", "since", "until")
_EITHER = {"yes": True, "only": True, "no": False}
_TOKEN = re.compile(r'"[^"]*"?|\S+')
_FILTER = re.compile(rf"({'|'.join(FIELDS)}):(\S*)")
_COMPLETIONS = 40  # more than a line of the widest terminal shows


@dataclass(frozen=True, slots=True)
class Known:
    """The values that filters may have here: languages by every word for them, and the files of the index."""

    languages: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter as it was typed, and what is wrong with it, if anything."""

    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the input asks for."""

    query: str
    filters: Filters
    chips: tuple[Chip, ...]


def read(text: str, known: Known) -> Typed:
    """The query, the filters and a chip for each of them."""
    words: list[str] = []
    chips: list[Chip] = []
    values: dict[str, list[str]] = {name: [] for name in FIELDS}
    for token in _TOKEN.findall(text):
        match = _FILTER.fullmatch(token)
        if match is None:
            words.append(token)
            continue
        name = match[1]
        problem = ""
        for word in filter(None, match[2].split(",")):
            right, wrong = _value(name, word, known)
            values[name] += [right] if right else []
            problem = problem or wrong
        chips.append(Chip(token, problem))
    return Typed(
        " ".join(words),
        Filters(
            paths=tuple(values["path"]),
            languages=tuple(dict.fromkeys(values["lang"])),
            kinds=tuple(dict.fromkeys(map(Kind, values["kind"]))),
            symbols=tuple(values["symbol"]),
            globs=tuple(values["glob"]),
            tests=_either(values["tests"]),
            docs=_either(values["docs"]),
            changed=_last(values["changed"]),
            since=_last(values["since"]),
            until=_last(values["until"]),
            authors=tuple(values["author"]),
        ),
        tuple(chips),
    )


def _value(name: str, word: str, known: Known) -> tuple[str, str]:
    """A filter's value as the engine wants it, or what is wrong with it."""
    if name == "lang":
        language = known.languages.get(word.lower().lstrip("."))
        return (language, "") if language else ("", _unknown("language", word, known.languages.values()))
    if name == "kind":
        kinds = [kind.value for kind in Kind]
        return (word.lower(), "") if word.lower() in kinds else ("", _unknown("kind", word, kinds))
    if name in ("tests", "docs"):
        return (word, "") if word in _EITHER else ("", f"{name}: yes or no")
    return (word.removeprefix("./").rstrip("/") if name == "path" else word), ""


def _unknown(what: str, word: str, names: Iterable[str]) -> str:
    near = get_close_matches(word.lower(), [*names], n=1)
    return f"unknown {what}; {near[0]}?" if near else f"unknown {what}"


def _either(values: list[str]) -> bool | None:
    return _EITHER[values[-1]] if values else None


def _last(values: list[str]) -> str | None:
    return values[-1] if values else None


def completions(text: str, known: Known) -> list[str]:
    """What the filter at the end of the input may become, whole filters, the likeliest first; none after a space."""
    last = text[len(text.rstrip()) :] == "" and text.rpartition(" ")[2]
    match = _FILTER.fullmatch(last) if last else None
    if match is None:
        return []
    name = match[1]
    before, comma, part = match[2].rpartition(",")
    names = [value for value in _values(name, part, known) if value.lower().startswith(part.lower()) and value != part]
    return [f"{name}:{before}{comma}{value}" for value in names[:_COMPLETIONS]]


def completed(text: str, known: Known) -> str | None:
    """The input with the filter at its end completed, or None."""
    found = completions(text, known)
    return text.rpartition(" ")[0] + " " * (" " in text) + found[0] if found else None


def _values(name: str, part: str, known: Known) -> list[str]:
    if name == "lang":
        return sorted(dict.fromkeys(known.languages.values()))
    if name == "kind":
        return [kind.value for kind in Kind if kind is not Kind.FILE]
    if name in ("tests", "docs"):
        return ["no", "yes"]
    if name == "changed":
        return ["staged", "unstaged", "HEAD~1"]
    if name == "path":
        cut = part.rfind("/") + 1  # one folder at a time, as a shell completes
        here = {path[: cut + len(rest.split("/")[0]) + ("/" in rest)]: None for path, rest in _below(part[:cut], known)}
        return sorted(here, key=lambda path: (not path.endswith("/"), path))
    return []


def _below(folder: str, known: Known) -> Iterable[tuple[str, str]]:
    return ((path, path[len(folder) :]) for path in known.paths if path.startswith(folder) and " " not in path)
