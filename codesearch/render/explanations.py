"""Lays an explanation out: how the query was read, each hit with its signals, and what became of an expected place.

A signal is shown as `name +1.23 (0.45)`: what it added to the logarithm of the odds, and its value before weighing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codesearch.render.safe import sanitise
from codesearch.render.text import (
    Code,
    Line,
    Role,
    at_revision,
    filter_flags,
    hit_at,
    hit_line,
    near_misses_layout,
    plain,
    reranked_words,
)
from codesearch.results import Expectation, ExplainedHit, Explanation, ReadTerm

_SIGNALS_SHOWN = 6  # of those that part an expected place from the last hit; --json has all


def explanation_layout(explanation: Explanation, *, folder: str = "") -> Iterator[Line | Code]:
    """How the query was read, then the hits, then the expected place."""
    rarity = {term.term: term.rarity for term in explanation.terms}
    yield from _reading(explanation, folder)
    if not explanation.hits:
        yield from near_misses_layout(explanation.result, folder=folder)
    for explained in explanation.hits:
        yield Line()
        yield from _hit(explained, rarity, folder)
    if explanation.expected is not None:
        yield Line()
        yield from _expected(explanation.expected, rarity, folder)


def explanation_at(explanation: Explanation, revision: str) -> Explanation:
    """An explanation whose hits are cited in a revision: REV:path, from the root."""
    hits = tuple(replace(each, hit=hit_at(each.hit, revision)) for each in explanation.hits)
    return replace(explanation, result=at_revision(explanation.result, revision), hits=hits)


def _reading(explanation: Explanation, folder: str) -> Iterator[Line]:
    if explanation.form:
        yield plain(f"read as   {explanation.form}")
    if explanation.names:
        yield plain(f"names     {', '.join(map(sanitise, explanation.names))}")
    words = [term for term in explanation.terms if not term.term.startswith("=")]
    if words:
        yield plain(f"words     {', '.join(map(_term, words))}")
    unknown = [term.term for term in words if not term.rarity]
    if unknown:
        yield plain(f"unknown   {', '.join(map(sanitise, unknown))}")
    if flags := filter_flags(explanation.filters, folder):
        yield plain(f"filters   {flags}")


def _term(term: ReadTerm) -> str:
    instead = f" for {sanitise(term.stands_for)}" if term.stands_for else ""
    return f"{sanitise(term.term)}{instead} ({term.rarity:.1f})"


def _hit(explained: ExplainedHit, rarity: Mapping[str, float], folder: str) -> Iterator[Line]:
    hit = explained.hit
    yield Line(((f"{hit.rank}  ", Role.FAINT), *hit_line(hit, folder).spans))
    ranks = [
        f"keywords {explained.keyword_score:.2f} (number {explained.keyword_rank})" if explained.keyword_rank else "",
        f"similarity {explained.similarity:.2f} (number {explained.meaning_rank})" if explained.meaning_rank else "",
    ]
    yield Line(((f"   {', '.join(filter(None, ranks)) or 'neither keywords nor meaning'}", Role.PLAIN),))
    if explained.missed:
        has = _words(explained.matched, rarity) or "none of the words"
        yield Line(((f"   has {has}; not {_words(explained.missed, rarity)}", Role.PLAIN),))
    if reranked := reranked_words(hit):
        yield plain(f"   {reranked}")
    yield Line(((f"   {_signals(hit.signals, explained.measured)}", Role.FAINT),))


def _words(terms: Sequence[str], rarity: Mapping[str, float]) -> str:
    return ", ".join(f"{sanitise(term)} ({rarity.get(term, 0.0):.1f})" for term in terms)


def _signals(added: Mapping[str, float], measured: Mapping[str, float]) -> str:
    ordered = sorted(added.items(), key=lambda item: -abs(item[1]))
    return "  ".join(
        f"{sanitise(name)} {value:+.2f}" + (f" ({measured[name]:.2f})" if name in measured else "")
        for name, value in ordered
    )


def _expected(expected: Expectation, rarity: Mapping[str, float], folder: str) -> Iterator[Line]:
    yield Line((("expected  ", Role.PLAIN), (sanitise(expected.location), Role.CITATION)))
    for reason in expected.reasons:
        yield plain(f"   {sanitise(reason)}")
    if expected.explained is not None and expected.against:
        yield from _hit(expected.explained, rarity, folder)
    if expected.against:
        yield plain("   what parts it from the last hit shown (its own, the hit's):")
        for name, own, other in expected.against[:_SIGNALS_SHOWN]:
            yield plain(f"     {sanitise(name):<14} {own:+.2f}  {other:+.2f}")
