"""Sizes and rectangles. Pure arithmetic; knows no pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, order=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def aspect(self) -> float:
        """Width divided by height; above 1 for landscape."""
        return self.width / self.height

    def scaled(self, factor: float) -> Size:
        """This size times a factor, never smaller than one pixel."""
        return Size(max(1, round(self.width * factor)), max(1, round(self.height * factor)))


@dataclass(frozen=True)
class Box:
    """A rectangle inside a picture; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    class Empty(ValueError):
        """The rectangle has no area."""

    def __post_init__(self) -> None:
        if self.left >= self.right or self.top >= self.bottom:
            raise Box.Empty(f"{self} has no area")

    def intersect(self, other: Box) -> Box:
        """The part that both rectangles share; raises Box.Empty when they only touch."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


def fit_within(size: Size, longest_side: int) -> Size:
    """The largest size of the same aspect whose longer side is at most `longest_side`; never enlarges."""
    factor = longest_side / max(size.width, size.height)
    return size if factor >= 1 else size.scaled(factor)


def center_crop(size: Size, aspect: float) -> Box:
    """The largest centred rectangle of the wanted aspect ratio."""
    if size.aspect > aspect:
        width = round(size.height * aspect)
        left = (size.width - width) // 2
        return Box(left, 0, left + width, size.height)
    height = round(size.width / aspect)
    top = (size.height - height) // 2
    return Box(0, top, size.width, top + height)


@overload
def parse_size(text: str) -> Size: ...


@overload
def parse_size(text: None) -> None: ...


def parse_size(text: str | None) -> Size | None:
    """Reads `320x200`; None stays None, so that an absent query parameter can be passed through."""
    if text is None:
        return None
    width, _, height = text.partition("x")
    return Size(int(width), int(height or width))


def slugify(title: str) -> str:
    """A title as it may stand in a file name: lower case, words joined by hyphens."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.lower()).split()

    return "-".join(words)
