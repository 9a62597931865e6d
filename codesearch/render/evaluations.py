"""Lays out how well cases were answered: the means, what changed, and the cases that were not found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from codesearch.evaluation import DEPTH, Case, Difference, Evaluation, Score
from codesearch.render.documents import SCHEMA, Document
from codesearch.render.safe import sanitise
from codesearch.render.text import Line, Role, plain

_SHOWN = 20  # cases; --json has all
_LONGEST_QUERY = 70
_COLUMN = len("0.000 (0.000-0.000)")
_SOURCES = {
    "golden": "",
    "docs": " from doc comments, asked of a copy of the files in which docs are blanked",
    "history": " from commits, each asked of the commit's parent",
}
NO_REASONS: Mapping[Case, str] = MappingProxyType({})


def evaluation_layout(
    runs: Sequence[Evaluation],
    difference: Difference | None,
    *,
    against: str,
    source: str,
    reasons: Mapping[Case, str] = NO_REASONS,
) -> Iterator[Line]:
    """One column for each run; `against` names what the difference is taken from, `reasons` why cases cannot be met."""
    cases = len(runs[0].outcomes)
    yield plain(f"{cases:,} question{'' if cases == 1 else 's'}{_SOURCES[source]}")
    width = max(_COLUMN, *(len(sanitise(run.name)) for run in runs))
    if len(runs) > 1:
        heads = "".join(f"  {sanitise(run.name):<{width}}" for run in runs)
        yield Line(((f"{'':8}{heads}  difference", Role.FAINT),))
    for metric in runs[0].scores:
        columns = "".join(f"  {_shown(run.scores[metric]):<{width}}" for run in runs)
        change = difference.scores.get(metric) if difference is not None and difference.cases else None
        yield plain(f"{metric:<8}{columns}" + (f"  {_change(change)}" if change is not None else "").rstrip())
    if difference is not None:
        yield Line()
        yield from _changed(difference, sanitise(against), cases)
    missed = [outcome for outcome in runs[0].outcomes if outcome.rank is None or outcome.rank > DEPTH]
    if missed:
        yield Line()
        yield plain("not among the first ten:")
        for outcome in missed[:_SHOWN]:
            rank = f" (rank {outcome.rank})" if outcome.rank else ""
            place = f"  {sanitise(outcome.case.expected[0])}{rank}"
            yield Line(((f"  {_short(outcome.case.query)}", Role.PLAIN), (place, Role.CITATION)))
            if reason := reasons.get(outcome.case):
                yield Line(((f"    {sanitise(reason)}", Role.FAINT),))
        if len(missed) > _SHOWN:
            yield plain(f"  … and {len(missed) - _SHOWN:,} more; --json lists all")


def _changed(difference: Difference, against: str, cases: int) -> Iterator[Line]:
    same = "" if difference.cases == cases else f" (of {difference.cases:,} that both have)"
    moved = _moved(difference) if difference.changed else "no change"
    yield plain(f"against {against}: {moved}{same}")
    for query, was, now in difference.changed[:_SHOWN]:
        yield Line(((f"  {was or '-':>3} → {now or '-':<3}  ", Role.FAINT), (_short(query), Role.PLAIN)))
    if len(difference.changed) > _SHOWN:
        yield plain(f"  … and {len(difference.changed) - _SHOWN:,} more; --json lists all")


def evaluation_document(runs: Sequence[Evaluation], difference: Difference | None, source: str) -> Document:
    """Every run with its means and the ranks of each case; `difference` is null where nothing is compared."""
    return {
        "schema": SCHEMA,
        "source": source,
        "runs": [
            {
                "name": run.name,
                "scores": {metric: _numbers(score) for metric, score in run.scores.items()},
                "questions": [
                    {"query": o.case.query, "at": o.case.at, "expected": list(o.case.expected), "rank": o.rank}
                    for o in run.outcomes
                ],
            }
            for run in runs
        ],
        "difference": difference
        and {
            "cases": difference.cases,
            "scores": {metric: _numbers(score) for metric, score in difference.scores.items()},
            "changed": [{"query": query, "before": was, "now": now} for query, was, now in difference.changed],
        },
    }


def _shown(score: Score) -> str:
    return f"{score.mean:.3f} ({score.low:.3f}-{score.high:.3f})"


def _change(score: Score) -> str:
    if not score.mean and not score.low and not score.high:
        return "±0"
    return f"{score.mean:+.3f} ({score.low:+.3f} to {score.high:+.3f})"


def _moved(difference: Difference) -> str:
    gained = sum((1 / now if now else 0) > (1 / was if was else 0) for _, was, now in difference.changed)
    return f"{gained} better, {len(difference.changed) - gained} worse"


def _short(query: str) -> str:
    query = sanitise(" ".join(query.split()))
    return query if len(query) <= _LONGEST_QUERY else query[: _LONGEST_QUERY - 2].rstrip() + " …"


def _numbers(score: Score) -> Document:
    return {"mean": round(score.mean, 4), "low": round(score.low, 4), "high": round(score.high, 4)}
