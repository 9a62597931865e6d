"""Tables of run files: the quality and cost of one, and what got worse and better between two. Reads no files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, median, quantiles

from measuring import table
from runs import DECLARATIONS, EXACT, FILES, MEASURES, Answer, Place

from codesearch.evaluation import Score, score_of

_LISTED = 15  # losses and gains each; the run files have all
_LONGEST_QUERY = 80


def report(answers: Sequence[Answer]) -> str:
    """Tables of a run: quality over all, by category and by language; then what it cost, by repository."""
    level = answers[0].level
    quality = [
        [label, str(len(group)), *(f"{figure:.3f}" for figure in means(group, by_repo=by_repo))]
        for label, group, by_repo in _groups(answers)
    ]
    parts = [table([level, "questions", *MEASURES[level]], quality)]
    if level == FILES:
        parts.append("All and languages: the mean over repositories of their means. Categories: over questions.")
    costs = [_costs(repo, group) for repo, group in _by(answers, lambda answer: answer.repo)]
    columns = [
        "repository",
        "questions",
        MEASURES[level][0],
        "index s",
        "CPU s",
        "index MB",
        "search MB",
        "p50 ms",
        "p95 ms",
    ]
    middle = ["median", str(len(answers)), "", *(_middle(costs, at) for at in range(3, len(columns)))]
    parts.append(table(columns, [*costs, *([middle] if len(costs) > 1 else [])]))
    return "\n\n".join(parts)


def means(answers: Sequence[Answer], *, by_repo: bool) -> list[float]:
    """The mean of each measure over questions, or over repositories of their means."""
    groups = [group for _, group in _by(answers, lambda answer: answer.repo)] if by_repo else [answers]
    rows = [[fmean(column) for column in zip(*(a.measures() for a in group), strict=True)] for group in groups]
    return [fmean(column) for column in zip(*rows, strict=True)]


def _groups(answers: Sequence[Answer]) -> Iterator[tuple[str, Sequence[Answer], bool]]:
    by_repo = answers[0].level == FILES
    yield "all", answers, by_repo
    categories = _by(answers, lambda answer: answer.category)
    if len(categories) > 1:
        yield from ((label, group, False) for label, group in categories)
    yield from ((label, group, by_repo) for label, group in _by(answers, lambda answer: answer.language))


def _by(answers: Sequence[Answer], key: Callable[[Answer], str]) -> list[tuple[str, list[Answer]]]:
    groups = defaultdict(list)
    for answer in answers:
        groups[key(answer)].append(answer)
    return sorted(groups.items())


def _costs(repo: str, answers: Sequence[Answer]) -> list[str]:
    times = [answer.ms for answer in answers]
    p95 = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    cost = [
        f"{answers[0].cost[key]:.{digits}f}" if key in answers[0].cost else "-"
        for key, digits in (("index_s", 1), ("index_cpu_s", 1), ("index_mb", 0), ("search_mb", 0))
    ]
    quality = means(answers, by_repo=False)[0]
    return [repo, str(len(answers)), f"{quality:.3f}", *cost, f"{median(times):.1f}", f"{p95:.1f}"]


def _middle(rows: Sequence[Sequence[str]], at: int) -> str:
    figures = [row[at] for row in rows if row[at] != "-"]
    return f"{median(map(float, figures)):.1f}" if figures else "-"


# --- two runs ---------------------------------------------------------------------------------------------------


def compare(before: Sequence[Answer], now: Sequence[Answer]) -> str:
    """What became of the questions that two runs share: means with paired intervals, then losses and gains."""
    earlier = {answer.question: answer for answer in before}
    pairs = [(earlier[answer.question], answer) for answer in now if answer.question in earlier]
    if not pairs:
        raise SystemExit("The runs share no question.")
    level = pairs[0][1].level
    rows = []
    for label, group, by_repo in _groups([answer for _, answer in pairs]):
        asked = {answer.question for answer in group}
        old = means([a for a, b in pairs if b.question in asked], by_repo=by_repo)
        changes = _changes([pair for pair in pairs if pair[1].question in asked], by_repo=by_repo)
        cells = [f"{was:.3f} {_signed(change)}" for was, change in zip(old, changes, strict=True)]
        rows.append([label, str(len(group)), *cells])
    text = [f"{len(pairs)} questions in both runs, {len(before)} in the first, {len(now)} in the second", ""]
    text += [table([level, "questions", *MEASURES[level]], rows), ""]
    text += [
        f"The change of each mean, and in brackets what holds it in 95 of 100 resamples of the {_unit(level)}.",
        "",
    ]
    text += [f"median search {_speed(a for a, _ in pairs)} → {_speed(b for _, b in pairs)}", ""]
    if level == DECLARATIONS:
        text += ["Ranks of the first hit that overlaps; ~ where it is not exact.", ""]
    moved = sorted(((_gain(a, b), a, b) for a, b in pairs), key=lambda each: (each[0], each[2].repo, each[2].query))
    for title, chosen in (
        ("worse", [each for each in moved if each[0] < 0]),
        ("better", [each for each in reversed(moved) if each[0] > 0]),
    ):
        text.append(f"{len(chosen)} {title}")
        text += [_case(*each[1:]) for each in chosen[:_LISTED]]
        text += [f"  … and {len(chosen) - _LISTED} more"] if len(chosen) > _LISTED else []
    return "\n".join(text)


def _changes(pairs: Sequence[tuple[Answer, Answer]], *, by_repo: bool) -> list[Score]:
    groups: dict[object, list[list[float]]] = defaultdict(list)
    for number, (old, new) in enumerate(pairs):
        change = [b - a for a, b in zip(old.measures(), new.measures(), strict=True)]
        groups[new.repo if by_repo else number].append(change)
    rows = [[fmean(column) for column in zip(*group, strict=True)] for group in groups.values()]
    return [score_of(column) for column in zip(*rows, strict=True)]


def _speed(answers: Iterable[Answer]) -> str:
    return f"{median(answer.ms for answer in answers):.1f} ms"


def _unit(level: str) -> str:
    return "repositories (of the questions, for a category)" if level == FILES else "questions"


def _signed(score: Score) -> str:
    if not score.mean and not score.low and not score.high:
        return "±0"
    # One repository alone says nothing about others.
    interval = f" ({score.low:+.3f} to {score.high:+.3f})" if score.low < score.high else ""
    return f"{score.mean:+.3f}{interval}"


def _gain(before: Answer, now: Answer) -> float:
    """By the first measure that tells files apart; for declarations by rank, exactness counting half as much."""
    if now.level == FILES:
        return now.measures()[0] - before.measures()[0]
    return _worth(now) - _worth(before)


def _worth(answer: Answer) -> float:
    found, exact = answer.rank(), answer.rank(EXACT)
    return (1 / found if found else 0.0) + (0.5 / exact if exact else 0.0)


def _case(before: Answer, now: Answer) -> str:
    query = " ".join(now.query.split())
    query = query if len(query) <= _LONGEST_QUERY else query[: _LONGEST_QUERY - 2].rstrip() + " …"
    if now.level == FILES:
        change = f"{before.measures()[0]:.2f} → {now.measures()[0]:.2f}"
    else:
        change = f"{_rank(before):>3} → {_rank(now):<3}"
    return "\n".join(
        [f"  {change}  {now.repo}: {query}"]
        + [f"      expected  {_shown(place)}" for place in now.expected[:3]]
        + [f"      first     {_shown(before.results)}  →  {_shown(now.results)}"]
    )


def _rank(answer: Answer) -> str:
    """The first rank that overlaps, with `~` where no exact hit stands there or above."""
    found, exact = answer.rank(), answer.rank(EXACT)
    return "-" if found is None else f"{found}{'' if exact == found else '~'}"


def _shown(what: Place | Sequence[Place]) -> str:
    if not isinstance(what, Place):
        return _shown(what[0]) if what else "nothing"
    return what.path if what.start is None else f"{what.path}:{what.start}-{what.end}"
