"""Chunks of files without a grammar and without headings: blocks that overlap a little in what is matched."""

from __future__ import annotations

from codesearch.chunking.budget import TokenBudget
from codesearch.chunking.source import Source
from codesearch.chunking.splitting import BLANK_LINE, LINE, SENTENCE, split
from codesearch.types import Chunk, Kind

_OVERLAP = 0.15  # of a block; a sentence that a border cuts is then still whole in one of two blocks


def chunk_text(content: bytes, budget: TokenBudget) -> list[Chunk]:
    """Blocks that tile the content, cut at blank lines, else lines, sentences, spaces, characters.

    Only the body of a block begins with the end of the block before; its span does not.
    """
    source = Source(content)
    whole = (0, len(content))
    if not content:
        return []
    if budget.may_fit(len(content)) and budget.fits(source.text(*whole)):
        ranges = [whole]
    else:
        room = max(1, budget.limit - int(budget.room * _OVERLAP))
        smaller = TokenBudget(limit=room, count=budget.count)
        ranges = split(source, whole, (), (BLANK_LINE, LINE, SENTENCE), smaller)
    chunks: list[Chunk] = []
    before = ""
    for start, end in ranges:
        text = source.text(start, end)
        body = _tail(before, budget) + text
        if source.is_blank(start, end):
            body = ""
        elif not budget.fits(body):
            body = text
        chunks.append(Chunk(Kind.BLOCK, source.span(start, end), body=body))
        before = text
    return chunks


def _tail(text: str, budget: TokenBudget) -> str:
    """The end of a block, from the start of a word, as long as the overlap allows."""
    room = int(budget.room * _OVERLAP)
    size = int(len(text) * _OVERLAP)
    while room and size:
        start = len(text) - size
        while start and not text[start - 1].isspace():
            start -= 1
        if budget.may_fit(len(text) - start) and budget.tokens(text[start:]) <= room:
            return text[start:]
        size = size * 2 // 3
    return ""
