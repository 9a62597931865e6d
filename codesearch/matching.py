"""Tells what became of the declarations of one snapshot in another one. Pure: reads nothing, parses nothing.

Declarations are joined in passes, each by a weaker likeness than the one before, and each one takes part once. What is
left on the old side was removed, what is left on the new side was added.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from codesearch.duplication import shingles
from codesearch.results import ChangeKind, DeclarationChange, Version
from codesearch.types import Declaration, Kind, Span

# Of the shingles that two texts have together, those that both must have to be one declaration, edited and in another
# place: half of them under the same name, as in git's renames of files, more where the name differs as well.
SAME_NAME, OTHER_NAME = 0.5, 0.8
_COMMON = 50  # declarations; a run of words that more of them share tells none of them apart


@dataclass(frozen=True, eq=False)
class Declared:
    """A declaration of one side. `file` numbers the pair of files that it stands in.

    `text` is its own, `whole` has that of its `members`, too. `indentation` is the white space before its first line.
    """

    version: Version
    file: int
    span: Span
    members: tuple[Span, ...]
    text: str
    whole: str
    indentation: str

    @cached_property
    def dedented(self) -> str:
        """The whole text as it would stand in any other place."""
        return textwrap.dedent(self.indentation + self.whole)

    @cached_property
    def nameless(self) -> str:
        """The whole text without its own name, which a rename changes."""
        return re.sub(rf"(?<!\w){re.escape(self.version.symbol)}(?!\w)", "\0", self.dedented)

    @cached_property
    def shingles(self) -> frozenset[int]:
        """What likeness is measured by; empty for a text that is like too many others."""
        return shingles(self.nameless.split("\n"))

    def reads_as(self, other: Declared) -> bool:
        """Whether the texts are equal, indentation and members aside."""
        return textwrap.dedent(self.indentation + self.text) == textwrap.dedent(other.indentation + other.text)


def declared(version: Version, file: int, content: bytes, declarations: Sequence[Declaration], index: int) -> Declared:
    """A declaration with its texts, line ends normalised.

    What stands in the members of a class or the like is theirs, not its own. What a function holds is the function's.
    """
    span = declarations[index].span
    members = _members(declarations, index)
    pieces, start = [], span.start_byte
    for member in members:
        pieces.append(content[start : member.start_byte])
        start = max(start, member.end_byte)
    pieces.append(content[start : span.end_byte])
    text, whole = _decode(b"".join(pieces)), _decode(content[span.start_byte : span.end_byte])
    if members:  # else a blank line between two of them would be a change of the class
        text = "\n".join(line.rstrip() for line in text.split("\n") if line.strip())
    before = content[content.rfind(b"\n", 0, span.start_byte) + 1 : span.start_byte].decode("utf-8", "replace")
    return Declared(version, file, span, tuple(members), text, whole, "" if before.strip() else before)


def _decode(content: bytes) -> str:
    # A section reaches to the next heading: blank lines at its end are no part of what it says.
    return content.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n")


def _members(declarations: Sequence[Declaration], index: int) -> list[Span]:
    inside: list[Declaration] = []
    for other in declarations[index + 1 :]:
        if other.span.start_byte >= declarations[index].span.end_byte:
            break
        if other.parent == index:
            inside.append(other)
    kind = declarations[index].kind
    if kind is Kind.TEST:  # a suite
        return [member.span for member in inside if member.kind is Kind.TEST]
    return [] if kind.is_callable else [member.span for member in inside]


def match(old: Sequence[Declared], new: Sequence[Declared]) -> list[DeclarationChange]:
    """What differs between two sides, in no order; declarations that do not differ are left out."""
    sides = _Sides(list(old), list(new))
    for one, other in sides.join(lambda each: (each.file, each.version.qualified_name, each.text)):
        if one.version.path != other.version.path:
            sides.found(ChangeKind.MOVED, one, other)  # with its file
    # A text that says enough is better evidence than a name: what was moved may have left something of its name behind.
    sides.join_moved(lambda each: bool(each.shingles))
    for one, other in (
        *sides.join(lambda each: (each.file, each.version.qualified_name, each.version.kind, _head(each))),
        *sides.join(lambda each: (each.file, each.version.qualified_name, each.version.kind)),
        *sides.join(lambda each: (each.file, each.version.qualified_name)),
    ):
        sides.found(ChangeKind.CHANGED, one, other)
    sides.join_moved(lambda each: "\n" in each.dedented)
    sides.join_moved(lambda _: True, anywhere=False)  # one line, as `type Output = ()`, is said by many
    for one, other in (
        *sides.join(lambda each: (each.file, each.version.kind, each.nameless)),
        *sides.join(lambda each: (each.version.kind, each.nameless) if each.shingles else None),
    ):
        sides.found(ChangeKind.RENAMED, one, other)
    for one, other in sides.join_likest():
        renamed = one.version.symbol != other.version.symbol
        same = ChangeKind.MOVED if one.reads_as(other) else ChangeKind.CHANGED
        sides.found(ChangeKind.RENAMED if renamed else same, one, other)
    return [
        *sides.changes,
        *(DeclarationChange(ChangeKind.REMOVED, each.version, None) for each in sides.old),
        *(DeclarationChange(ChangeKind.ADDED, None, each.version) for each in sides.new),
    ]


def _head(declared: Declared) -> str:
    """The first line, by which overloads are told apart."""
    return declared.text.partition("\n")[0]


@dataclass
class _Sides:
    """The declarations of both sides that are not joined yet, and the changes found so far."""

    old: list[Declared]
    new: list[Declared]

    def __post_init__(self) -> None:
        self.changes: list[DeclarationChange] = []

    def found(self, change: ChangeKind, one: Declared, other: Declared) -> None:
        self.changes.append(DeclarationChange(change, one.version, other.version))

    def join(self, key: Callable[[Declared], Hashable]) -> list[tuple[Declared, Declared]]:
        """Takes out the pairs with equal keys, as multisets, the first with the first; None takes no part."""
        waiting: defaultdict[Hashable, list[Declared]] = defaultdict(list)
        for each in reversed(self.new):
            waiting[key(each)].append(each)
        waiting[None] = []
        pairs = []
        for each in self.old:
            if same := waiting.get(key(each)):
                pairs.append((each, same.pop()))
        self._take_out(pairs)
        return pairs

    def join_moved(self, tells: Callable[[Declared], bool], *, anywhere: bool = True) -> None:
        """Joins equal texts in different places, the nearest first.

        Unless `anywhere`, only in the same file or under the same qualified name.
        """
        keys: list[Callable[[Declared], Hashable]] = [
            lambda each: (each.file, each.dedented) if tells(each) else None,
            lambda each: (each.version.qualified_name, each.dedented) if tells(each) else None,
        ]
        if anywhere:
            keys.append(lambda each: each.dedented if tells(each) else None)
        for key in keys:
            for one, other in self.join(key):
                same_place = (one.file, one.version.qualified_name) == (other.file, other.version.qualified_name)
                # In the same place only its indentation differs.
                self.found(ChangeKind.CHANGED if same_place else ChangeKind.MOVED, one, other)

    def join_likest(self) -> Iterator[tuple[Declared, Declared]]:
        """Takes out pairs that are nearly the same text, the likest first."""
        having: defaultdict[int, list[int]] = defaultdict(list)
        for number, each in enumerate(self.new):
            for shingle in each.shingles:
                having[shingle].append(number)
        likeness: list[tuple[float, int, int]] = []
        for number, each in enumerate(self.old):
            shared = Counter(at for s in each.shingles if len(found := having.get(s, ())) <= _COMMON for at in found)
            for at, _ in shared.most_common(8):
                degree = _likeness(each, self.new[at])
                same = each.version.symbol == self.new[at].version.symbol
                if degree >= (SAME_NAME if same else OTHER_NAME):
                    likeness.append((degree, number, at))
        pairs: list[tuple[Declared, Declared]] = []
        taken: set[tuple[str, int]] = set()
        for _, one, other in sorted(likeness, key=lambda each: (-each[0], each[1], each[2])):
            if not taken & {("old", one), ("new", other)}:
                taken |= {("old", one), ("new", other)}
                pairs.append((self.old[one], self.new[other]))
        self._take_out(pairs)
        yield from pairs

    def _take_out(self, pairs: Sequence[tuple[Declared, Declared]]) -> None:
        gone = {id(each) for pair in pairs for each in pair}
        self.old = [each for each in self.old if id(each) not in gone]
        self.new = [each for each in self.new if id(each) not in gone]


def _likeness(one: Declared, other: Declared) -> float:
    a, b = one.version.kind, other.version.kind
    if a is not b and not (a.is_callable and b.is_callable):
        return 0.0
    shared = len(one.shingles & other.shingles)
    return shared / (len(one.shingles) + len(other.shingles) - shared)
