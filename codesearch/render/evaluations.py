"""Lays out how well cases were answered: the means, what changed, and the cases that were not found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codesearch.evaluation import METRICS, Difference, Evaluation, Score
from codesearch.render.documents import SCHEMA, Document
from codesearch.render.safe import sanitise
from codesearch.render.text import Line, Role, plain

_SHOWN = 20  # cases; --json has all
_LONGEST_QUERY = 70


def evaluation_layout(runs: Sequence[Evaluation], difference: Difference | None, *, before: str) -> Iterator[Line]:
    """One column for each run; `before` names what the difference is against."""
    cases = len(runs[0].outcomes)
    yield plain(f"{cases:,} question{'' if cases == 1 else 's'}")
    width = max(18, *(len(run.name) for run in runs))
    if len(runs) > 1:
        yield Line(((f"{'':8}" + "".join(f"  {sanitise(run.name):<{width}}" for run in runs), Role.FAINT),))
    for metric in METRICS:
        columns = "".join(f"  {_shown(run.scores[metric]):<{width}}" for run in runs)
        change = "" if difference is None else f"  {_change(difference.scores[metric])}"
        yield plain(f"{metric:<8}{columns}{change}".rstrip())
    if difference is not None and difference.changed:
        yield Line()
        yield plain(f"against {sanitise(before)}: {_moved(difference)}")
        for query, was, now in difference.changed[:_SHOWN]:
            yield Line(((f"  {was or '-':>3} → {now or '-':<3}  ", Role.FAINT), (_short(query), Role.PLAIN)))
        if len(difference.changed) > _SHOWN:
            yield plain(f"  … and {len(difference.changed) - _SHOWN:,} more; --json lists all")
    missed = [outcome for outcome in runs[-1].outcomes if outcome.rank is None]
    if missed:
        yield Line()
        yield plain("not among the first ten:")
        for outcome in missed[:_SHOWN]:
            place = sanitise(outcome.case.expected[0])
            yield Line(((f"  {_short(outcome.case.query)}", Role.PLAIN), (f"  {place}", Role.CITATION)))
        if len(missed) > _SHOWN:
            yield plain(f"  … and {len(missed) - _SHOWN:,} more; --json lists all")


def evaluation_document(runs: Sequence[Evaluation], difference: Difference | None) -> Document:
    """Every run with its means and the ranks of each case; `difference` is null where nothing is compared."""
    return {
        "schema": SCHEMA,
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
            "scores": {metric: _numbers(score) for metric, score in difference.scores.items()},
            "changed": [{"query": query, "before": was, "now": now} for query, was, now in difference.changed],
        },
    }


def _shown(score: Score) -> str:
    return f"{score.mean:.3f} ({score.low:.3f}-{score.high:.3f})"


def _change(score: Score) -> str:
    return f"{score.mean:+.3f} ({score.low:+.3f} to {score.high:+.3f})" if score.mean or score.high else "±0"


def _moved(difference: Difference) -> str:
    gained = sum((1 / now if now else 0) > (1 / was if was else 0) for _, was, now in difference.changed)
    return f"{gained} better, {len(difference.changed) - gained} worse"


def _short(query: str) -> str:
    query = sanitise(" ".join(query.split()))
    return query if len(query) <= _LONGEST_QUERY else query[: _LONGEST_QUERY - 2].rstrip() + " …"


def _numbers(score: Score) -> Document:
    return {"mean": round(score.mean, 4), "low": round(score.low, 4), "high": round(score.high, 4)}
