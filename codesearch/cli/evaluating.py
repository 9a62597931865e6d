"""The verb that measures how well questions with known answers are answered."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codesearch.cli import output
from codesearch.cli.place import Place
from codesearch.cli.progress import ProgressBars
from codesearch.cli.verbs import Session, verb
from codesearch.errors import UsageError
from codesearch.render.text import plain
from codesearch.types import Filters, Hit, Progress

if TYPE_CHECKING:
    from codesearch.engine import Engine
    from codesearch.evaluation import Case, Evaluation

Ask = Callable[["Case"], Sequence[Hit]]


@verb
@click.argument("golden", required=False, type=click.Path(path_type=Path), metavar="[GOLDEN]")
@click.option("--add", metavar="QUERY", help="Add a question to GOLDEN; its answers are given by --expect.")
@click.option("--expect", multiple=True, metavar="LOCATION", help="A right answer for --add; several may be given.")
@click.option("--from-docs", type=click.IntRange(1), metavar="N", help="Ask N doc comments for their declarations.")
@click.option("--from-history", type=click.IntRange(1), metavar="N", help="Ask N commits for what they changed.")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Keep the questions that were made.")
@click.option("--compare", metavar="MODEL", help="Ask this model as well, and show what differs.")
@click.option("--fail-under", metavar="[METRIC=]VALUE", help="Exit 1 below this mean; of hit@5 if none is named.")
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
) -> int:
    """Measure how well questions with known answers are answered.

    \b
    codesearch eval golden.toml                          hit@1/3/5/10, MRR, NDCG; what changed since the last run
    codesearch eval golden.toml --fail-under hit@5=0.8   exit 1 below it, for continuous integration
    codesearch eval golden.toml --add "retry uploads" --expect src/upload.py#Uploader.retry
    codesearch eval --from-docs 50                       doc comments ask, in a copy of the files without them
    codesearch eval --from-history 20                    commits' subjects ask for what they changed, on the parent
    codesearch eval golden.toml --compare MODEL          two models side by side

    GOLDEN is TOML ([[question]] with query and expected) or JSON lines. An answer is FILE#symbol, FILE:A-B, FILE:LINE
    or FILE; the brackets hold 95 of 100 resamples of the questions.
    """  # noqa: D301 - see verbs.py
    from codesearch.cases import append_case
    from codesearch.evaluation import Case, load, save
    from codesearch.evaluation import compare as compared
    from codesearch.render.evaluations import evaluation_document, evaluation_layout

    if sum(each is not None for each in (golden, from_docs, from_history)) != 1:
        raise UsageError("Give one of GOLDEN, --from-docs and --from-history.", "See: codesearch eval --help")
    if (add is None) != (not expect) or (add is not None and golden is None):
        raise UsageError("--add and --expect go together, with a GOLDEN file.", "See: codesearch eval --help")
    if write is not None and from_history is None:
        raise UsageError(
            "Only questions of --from-history can be kept.", "Those of --from-docs are asked of a copy that is removed."
        )
    limit = _read_threshold(fail_under)
    engine = session.engine
    if add is not None and golden is not None:
        places = [_checked(session, location) for location in expect]
        append_case(golden, Case(add.strip(), tuple(places)))
        output.print_note([plain(f"Added to {golden}: {add.strip()}")])
        return 0

    kept: Path | None = None
    with _questions(engine, golden, from_docs, from_history) as (cases, asked):
        if golden is not None:
            key = blake2b(f"{golden.resolve()}\0{engine.settings.model}".encode(), digest_size=8).hexdigest()
            kept = engine.home / "evaluations" / f"{key}.json"
        if not cases:
            raise UsageError("No question could be made here.", "Are there doc comments, or commits with a subject?")
        if write is not None:
            for case in cases:
                append_case(write, case)
        # The questions' own file would answer each of them.
        others = _without(session.place, golden) if golden is not None else Filters()
        runs = [_run(asked, cases, others)]
        if compare is not None:
            other = type(asked)(asked.repository, replace(asked.settings, model=compare))
            runs.append(_run(other, cases, others))
    before = load(kept) if kept is not None and compare is None else None
    difference = compared(runs[0], runs[1]) if compare is not None else None
    if before is not None:
        difference = compared(before, runs[0])
    against = runs[0].name if compare is not None else "the last run"
    session.print(
        lambda: evaluation_document(runs, difference), lambda: evaluation_layout(runs, difference, before=against)
    )
    if kept is not None and compare is None:
        save(runs[0], kept)
    engine.finish()
    return 0 if limit is None or runs[-1].scores[limit[0]].mean >= limit[1] else 1


@contextmanager
def _questions(
    engine: Engine, golden: Path | None, docs: int | None, history: int | None
) -> Iterator[tuple[list[Case], Engine]]:
    """The questions that are read or made, and the engine to ask: over a copy where docs ask."""
    from codesearch.cases import read_cases
    from codesearch.harvesting import from_docs, from_history

    if golden is not None:
        yield read_cases(golden), engine
        return
    if docs is None:
        yield from_history(engine.repository, engine.language_set, history or 1), engine
        return
    with tempfile.TemporaryDirectory(prefix="codesearch-eval-") as name:
        folder, home = Path(name).resolve() / "files", Path(name).resolve() / "index"
        folder.mkdir()
        cases = from_docs(engine.repository, engine.language_set, docs, folder)
        yield cases, type(engine).open(folder, replace(engine.settings, home=home))


def _without(place: Place, path: Path) -> Filters:
    """Everything but one file, where that lies in the repository."""
    absolute = path.resolve()
    if not absolute.is_relative_to(place.root):
        return Filters()
    return Filters(globs=(f"!/{absolute.relative_to(place.root).as_posix()}",))


def _run(engine: Engine, cases: Sequence[Case], filters: Filters) -> Evaluation:
    from codesearch.evaluation import DEPTH, evaluate

    done = 0
    with ProgressBars() as progress:
        engine.search("anything", progress=progress)  # indexes, if need be

        def search(case: Case) -> Sequence[Hit]:
            nonlocal done
            progress(Progress("asking", done, len(cases)))
            done += 1
            return engine.search(case.query, limit=DEPTH, at=case.at, filters=filters).hits

        return evaluate(engine.settings.model or "built-in model", cases, search)


def _checked(session: Session, location: str) -> str:
    """A right answer as it is written to the file, from the root; LocationError where there is no such place."""
    session.engine.show(session.place.absolute_location(location))
    return session.place.location_from_root(location)


def _read_threshold(text: str | None) -> tuple[str, float] | None:
    from codesearch.evaluation import METRICS

    if text is None:
        return None
    metric, _, value = text.rpartition("=")
    metric = metric or "hit@5"
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if metric not in METRICS or not 0 <= number <= 1:
        raise UsageError(
            f"--fail-under {text} is no threshold.", f"Give METRIC=VALUE with one of {', '.join(METRICS)}."
        )
    return metric, number
