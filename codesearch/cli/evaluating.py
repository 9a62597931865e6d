"""The verb that measures how well questions with known answers are answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codesearch.cli import options, output
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import Session, verb
from codesearch.errors import UsageError
from codesearch.render.text import plain
from codesearch.settings import LARGEST_TOP_K

if TYPE_CHECKING:
    from codesearch.cli.place import Place
    from codesearch.evaluation import Evaluation
    from codesearch.trials import Trial

_DEPTH = 10  # as evaluation.DEPTH; that module takes 0.1 s to load
_SEE = "See: codesearch eval --help"
_QUESTIONS = click.IntRange(1, 10_000)


@verb
@click.argument("golden", required=False, type=click.Path(path_type=Path), metavar="[GOLDEN]")
@click.option("--add", metavar="QUERY", help="Add a question to GOLDEN; its answers are given by --expect.")
@click.option("--expect", multiple=True, metavar="LOCATION", help="A right answer for --add; several may be given.")
@click.option(
    "--from-docs",
    type=_QUESTIONS,
    is_flag=False,
    flag_value=50,
    metavar="[N]",
    help="Ask N (50) doc comments for their declarations.",
)
@click.option(
    "--from-history",
    type=_QUESTIONS,
    is_flag=False,
    flag_value=20,
    metavar="[N]",
    help="Ask N (20) commits for what they changed.",
)
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Keep the questions that were made.")
@click.option("--compare", metavar="MODEL|FILE", help="Ask another model as well, or with the settings of a TOML file.")
@options.rerank_option
@click.option("--fail-under", metavar="[METRIC=]VALUE", help="Exit 1 below this mean; of hit@5 if none is named.")
@click.option(
    "-k", "--top-k", type=click.IntRange(_DEPTH, LARGEST_TOP_K), default=_DEPTH, metavar="N",
    help="Look for the answers among N hits; more than 10 add hit@N.  [default: 10]",
)  # fmt: skip
def eval(  # noqa: A001 - the name of the verb
    session: Session,
    *,
    golden: Path | None,
    add: str | None,
    expect: tuple[str, ...],
    from_docs: int | None,
    from_history: int | None,
    write: Path | None,
    compare: str | None,
    fail_under: str | None,
    top_k: int,
) -> int:
    """Measure how well questions with known answers are answered.

    \b
    codesearch eval golden.toml                          hit@1/3/5/10, MRR, NDCG; what changed since the last run
    codesearch eval golden.toml --fail-under hit@5=0.8   exit 1 below it, for continuous integration
    codesearch eval golden.toml --add "retry uploads" --expect src/upload.py#Uploader.retry
    codesearch eval --from-docs 50                       doc comments ask, in a copy of the files without them
    codesearch eval --from-history 20                    commits' subjects ask for what they changed, on the parent
    codesearch eval golden.toml --compare MODEL          two models side by side
    codesearch eval --from-docs --compare other.toml     two settings side by side

    GOLDEN is TOML ([[question]] with query and expected) or JSON lines. An answer is FILE#symbol, FILE:A-B, FILE:LINE
    or FILE; the brackets hold 95 of 100 resamples of the questions. Exit code: 0, or 1 below --fail-under.
    """  # noqa: D301 - see verbs.py
    from codesearch.evaluation import compare as compared
    from codesearch.evaluation import load, save
    from codesearch.render.evaluations import evaluation_document, evaluation_layout
    from codesearch.trials import kept_run, missing_places, with_other

    if sum(each is not None for each in (golden, from_docs, from_history)) != 1:
        raise UsageError("Give one of GOLDEN, --from-docs and --from-history.", _SEE)
    if (add is None) != (not expect) or (add is not None and golden is None):
        raise UsageError("--add and --expect go together, with a GOLDEN file.", _SEE)
    if write is not None and from_history is None:
        raise UsageError(
            "Only questions of --from-history can be kept.", "Those of --from-docs are asked of a copy that is removed."
        )
    limit = _read_threshold(fail_under, top_k)
    golden, write = (path and _from_folder(session.place, path) for path in (golden, write))
    if compare is not None and compare.endswith(".toml"):
        compare = str(_from_folder(session.place, Path(compare)))
    if add is not None and golden is not None:
        return _add(session, golden, add, expect)

    kept = kept_run(session.engine, golden) if golden is not None and compare is None else None
    before = load(kept) if kept is not None else None
    with ExitStack() as stack:
        progress = stack.enter_context(ProgressBars())
        trial = stack.enter_context(_trial(session, golden, from_docs, from_history, progress))
        if write is not None:
            _keep(write, trial)
        runs = [trial.ask(top_k, progress)]
        if compare is not None:
            name, other = stack.enter_context(with_other(trial, compare))
            runs.append(replace(other.ask(top_k, progress), name=name))
        reasons = missing_places(trial.engine, runs[0]) if golden is not None else {}
    difference = None
    if before is not None:
        difference = compared(before, runs[0])
    elif compare is not None:
        difference = compared(*runs)
    against = runs[0].name if before is None else f"the last run ({before.taken})"
    session.print(
        lambda: evaluation_document(runs, difference, trial.source),
        lambda: evaluation_layout(runs, difference, against=against, source=trial.source, reasons=reasons),
    )
    if trial.absent:
        output.print_note([plain(f"{_counted(len(trial.absent))} not asked: this clone lacks the revision.")])
    if kept is not None:
        try:
            save(runs[0], kept)
        except OSError as error:
            output.print_note([plain(f"This run could not be kept for the next: {error.strerror}.")])
    session.engine.finish()
    return _judged(runs[0], limit)


def _from_folder(place: Place, path: Path) -> Path:
    """A file as it counts from where `-C` leads."""
    return path if place.folder == Path.cwd() else place.folder / path


def _add(session: Session, golden: Path, query: str, expected: tuple[str, ...]) -> int:
    """Adds a question whose answers the index has; LocationError where it lacks one, or has it twice."""
    from codesearch.cases import append_cases
    from codesearch.evaluation import Case

    places = [session.place.location_from_root(location) for location in expected]
    if not query.strip():
        raise UsageError("The question of --add is empty.", _SEE)
    with ProgressBars() as progress:
        for place in places:
            session.engine.find(place, progress=progress)
    case = Case(query.strip(), tuple(dict.fromkeys(places)))
    if not append_cases(golden, [case]):
        raise UsageError(f"{golden} has this question already.", "Edit its answers there.")
    added = {"query": case.query, "expected": list(case.expected)}
    session.print(lambda: {"schema": 1, "added": added}, lambda: [plain(f"added to {golden}: {case.query}")])
    session.engine.finish()
    return 0


@contextmanager
def _trial(
    session: Session, golden: Path | None, docs: int | None, history: int | None, progress: ProgressBars
) -> Iterator[Trial]:
    from codesearch.trials import docs_trial, golden_trial, history_trial

    with ExitStack() as stack:
        if golden is not None:
            trial = golden_trial(session.engine, golden)
            problem = f"This clone lacks the revisions of all questions in {golden}.", "Fetch more of the history."
        elif docs is not None:
            trial = stack.enter_context(docs_trial(session.engine, docs, progress))
            problem = "No doc comment makes a question here.", "It takes a function whose doc begins with a sentence."
        else:
            trial = history_trial(session.engine, history or 1)
            problem = (
                "No commit makes a question here.",
                "It takes commits that change a few declarations; a shallow clone may have none.",
            )
        if not trial.cases:
            raise UsageError(*problem)
        yield trial


def _keep(path: Path, trial: Trial) -> None:
    from codesearch.cases import append_cases

    count = append_cases(path, trial.cases)
    already = len(trial.cases) - count
    output.print_note(
        [plain(f"{_counted(count)} written to {path}" + (f", {already} there already" if already else ""))]
    )


def _counted(questions: int) -> str:
    return f"{questions} question{'' if questions == 1 else 's'}"


def _judged(run: Evaluation, limit: tuple[str, float] | None) -> int:
    if limit is None or run.scores[limit[0]].mean >= limit[1]:
        return 0
    metric, least = limit
    output.print_note([plain(f"{metric} is {run.scores[metric].mean:.3f}, below {least:g}.")])
    return 1


def _read_threshold(text: str | None, depth: int) -> tuple[str, float] | None:
    from codesearch.evaluation import metrics_to

    if text is None:
        return None
    metric, _, value = text.rpartition("=")
    metric = metric or "hit@5"
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    known = metrics_to(depth)
    if metric not in known or not 0 <= number <= 1:
        raise UsageError(f"--fail-under {text} is no threshold.", f"Give METRIC=VALUE with one of {', '.join(known)}.")
    return metric, number
