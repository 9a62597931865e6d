"""Gathers places with one text, or nearly one, into groups, and says what each group wastes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from codesearch.duplication import are_near_copies, likeness, shingles
from codesearch.sketching import Sketches

_SAME_WORDS = 0.9999  # of another text with the same words: `a + b` and `a - b`; only one text is 1


class Level(IntEnum):
    """What is compared with its like only: a class with one method would else be a copy of a function."""

    OTHER = 0
    CONTAINER = 1
    FILE = 2


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: a file, its bytes and lines there, and the number of the sketch that was made of it."""

    path: str
    start: int
    end: int
    first: int
    last: int
    level: Level
    sketched: int

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return self.last - self.first + 1

    def overlaps(self, other: Place) -> bool:
        """Whether both have bytes in common."""
        return self.path == other.path and self.start < other.end and other.start < self.end


@dataclass(frozen=True, eq=False)
class Text:
    """One text, without its indentation, and all the places of one level that have it, the outermost first."""

    text: str
    places: tuple[Place, ...]

    @cached_property
    def shingles(self) -> frozenset[int]:
        """What near-copies have in common."""
        return shingles(self.text.split("\n"), longest=None)


@dataclass(frozen=True, slots=True)
class Group:
    """Places, and how like the first of them each is (1: the same text)."""

    places: tuple[tuple[Place, float], ...]

    @property
    def waste(self) -> int:
        """The lines that would go if only the longest stayed."""
        lines = [place.lines for place, _ in self.places]
        return sum(lines) - max(lines)


def outermost_first(place: Place) -> tuple[int, str, int]:
    """The longest first."""
    return -place.lines, place.path, place.start


def group_texts(texts: Iterable[Text], sketches: Sketches | None) -> list[Group]:
    """Each text with the others that are nearly like it; without sketches, with its own places only.

    A text joins the first that it is like, the longest being asked first, so that a class is there before its methods.
    Of places that overlap, a group has the first.
    """
    order = sorted(texts, key=lambda text: outermost_first(text.places[0]))
    meeting = _meeting(order, sketches) if sketches is not None else {}
    joined: set[int] = set()
    groups = []
    for number, leader in enumerate(order):
        if number in joined:
            continue
        members = _Members()
        members.add(leader, 1.0)
        for other in meeting.get(number, ()):
            text = order[other]
            if other in joined or text.places[0].level is not leader.places[0].level:
                continue
            if are_near_copies(leader.shingles, text.shingles) and members.would_grow(text):
                members.add(text, min(likeness(leader.shingles, text.shingles), _SAME_WORDS))
                joined.add(other)
        if len(members.places) > 1:
            groups.append(Group(tuple(members.places)))
        leader.__dict__.pop("shingles", None)  # no later one asks for it
    return groups


class _Members:
    """The places of a group as it grows; none overlaps another."""

    def __init__(self) -> None:
        self.places: list[tuple[Place, float]] = []
        self._by_path: defaultdict[str, list[Place]] = defaultdict(list)

    def would_grow(self, text: Text) -> bool:
        """Whether some place of a text is new."""
        return any(self._is_apart(place) for place in text.places)

    def add(self, text: Text, share: float) -> None:
        """Adds the places of a text that are new, in order of path and line."""
        new = []
        for place in text.places:
            if self._is_apart(place):
                self._by_path[place.path].append(place)
                new.append((place, share))
        self.places.extend(sorted(new, key=lambda each: (each[0].path, each[0].start)))

    def _is_apart(self, place: Place) -> bool:
        return not any(place.overlaps(other) for other in self._by_path.get(place.path, ()))


def _meeting(texts: Sequence[Text], sketches: Sketches) -> dict[int, list[int]]:
    """For each text the later ones that may be nearly like it, by their sketches."""
    number_of = {text.places[0].sketched: number for number, text in enumerate(texts)}
    buckets = sketches.buckets(np.array(list(number_of), np.int64))
    of_text: defaultdict[int, list[int]] = defaultdict(list)
    for index, bucket in enumerate(buckets):
        for sketched in bucket:
            of_text[sketched].append(index)
    meeting = {}
    for sketched, number in number_of.items():
        others = {other for index in of_text[sketched] for other in buckets[index] if number_of[other] > number}
        agreeing = sketches.agreeing(sketched, sorted(others, key=number_of.__getitem__))
        meeting[number] = [number_of[other] for other in agreeing]
    return meeting


def without_nested(groups: Iterable[Group]) -> list[Group]:
    """The groups, the largest waste first, without what would go with the copies of a longer text.

    Of each group the first place stays; what lies inside the others is not listed again. So no line counts twice.
    """
    going: defaultdict[str, list[Place]] = defaultdict(list)
    kept = []
    for group in sorted(groups, key=lambda group: outermost_first(group.places[0][0])):
        places = tuple(
            (place, share)
            for place, share in group.places
            if not any(other.start <= place.start and place.end <= other.end for other in going.get(place.path, ()))
        )
        if len(places) < 2:
            continue
        kept.append(Group(places))
        for place, _ in places[1:]:
            going[place.path].append(place)
    return sorted(kept, key=_by_waste)


def _by_waste(group: Group) -> tuple[int, str, int]:
    first = group.places[0][0]
    return -group.waste, first.path, first.start
