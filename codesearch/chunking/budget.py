"""How much text fits into one chunk, in a model's tokens, calling its tokenizer as rarely as possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

_MOST_BYTES_PER_TOKEN = 16  # deeply indented code has 10; a longer text is split without being counted


@dataclass(frozen=True)
class TokenBudget:
    """The largest chunk, in tokens as `count` counts them (special tokens included)."""

    limit: int
    count: Callable[[str], int]

    @cached_property
    def overhead(self) -> int:
        """Special tokens that every text costs."""
        return self.count("")

    @property
    def room(self) -> int:
        """Tokens left for text in one chunk, at least one."""
        return max(1, self.limit - self.overhead)

    def may_fit(self, size: int) -> bool:
        """Whether a text of so many bytes is worth counting; larger ones are taken not to fit."""
        return size <= _MOST_BYTES_PER_TOKEN * self.limit

    def fits(self, text: str) -> bool:
        """Whether a text is at most one chunk long."""
        if len(text) <= self.room and text.isascii():  # a token has at least one byte
            return True
        return self.may_fit(len(text)) and self.count(text) <= self.limit

    def tokens(self, text: str) -> int:
        """Tokens of a text as a piece of a larger one, that is without special tokens."""
        return max(0, self.count(text) - self.overhead)

    def clip(self, text: str, room: int) -> str:
        """The beginning of a text, at most `room` tokens long, cut at a space where there is one."""
        text = text[: _MOST_BYTES_PER_TOKEN * max(room, 0)]
        while text and not (len(text) <= room and text.isascii()):
            tokens = self.tokens(text)
            if tokens <= room:
                break
            shorter = text[: min(len(text) - 1, len(text) * room // tokens)]
            head, space, _ = shorter.rpartition(" ")
            text = head if space else shorter
        return text.rstrip()
