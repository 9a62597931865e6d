"""Puts questions to engines: those of a golden file, or those that a repository's docs and commits make.

Knows which state of the repository each sort of question is asked of, and what is kept for the next run. Measures
nothing itself (see `evaluation`), prints nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from codesearch.cases import read_cases
from codesearch.engine import Engine
from codesearch.errors import AmbiguousLocationError, LocationError, RepositoryError, SettingsError, UsageError
from codesearch.evaluation import DEPTH, Case, Evaluation, evaluate
from codesearch.harvesting import from_docs, from_history
from codesearch.reranking import NO_RERANKER
from codesearch.settings import Settings, with_file
from codesearch.types import Filters, Hit, Progress, ProgressCallback

BUILT_IN = "built-in model"


@dataclass(frozen=True, slots=True)
class Trial:
    """Questions, the engine that is asked, and what it may answer with.

    `source` says where the questions come from: golden, docs or history. `absent` are questions about revisions that
    this clone does not have; they are not asked.
    """

    source: str
    engine: Engine
    cases: tuple[Case, ...]
    filters: Filters = field(default_factory=Filters)
    absent: tuple[Case, ...] = ()

    def ask(self, depth: int = DEPTH, progress: ProgressCallback | None = None) -> Evaluation:
        """How well the questions are answered, with so many hits of each looked at."""
        self.engine.search("anything", progress=progress)  # indexes, if need be
        done = 0

        def search(case: Case) -> Sequence[Hit]:
            nonlocal done
            if progress is not None:
                progress(Progress("asking", done, len(self.cases)))
            done += 1
            return self.engine.search(case.query, limit=depth, at=case.at, filters=self.filters).hits

        settings = self.engine.settings
        name = settings.model or BUILT_IN
        if settings.rerank not in (None, NO_RERANKER):
            name += f", reranked by {settings.rerank}"
        return evaluate(name, self.cases, search, depth=depth, taken=_taken(self.engine))


def golden_trial(engine: Engine, path: Path) -> Trial:
    """The questions of a golden file, asked of the working tree or of the revision that they name."""
    here: list[Case] = []
    absent: list[Case] = []
    for case in read_cases(path):
        (here if case.at is None or _has(engine, case.at) else absent).append(case)
    # The questions' own file would answer each of them.
    inside = path.resolve().is_relative_to(engine.repository.root)
    name = path.resolve().relative_to(engine.repository.root).as_posix() if inside else ""
    filters = Filters(globs=(f"!/{_literal(name)}",)) if inside else Filters()
    return Trial("golden", engine, tuple(here), filters, tuple(absent))


@contextmanager
def docs_trial(engine: Engine, count: int, progress: ProgressCallback | None = None) -> Iterator[Trial]:
    """First sentences of doc comments, asked of a copy of the files in which the docs are blanked."""
    if engine.repository.is_bare:
        raise UsageError("A bare repository has no files to copy.", "Ask its commits: codesearch eval --from-history")
    with tempfile.TemporaryDirectory(prefix="codesearch-eval-") as name:
        folder, home = Path(name).resolve() / "files", Path(name).resolve() / "index"
        folder.mkdir()
        cases = from_docs(engine.repository, engine.language_set, count, folder, progress)
        yield Trial("docs", Engine.open(folder, replace(engine.settings, home=home)), tuple(cases))


def history_trial(engine: Engine, count: int) -> Trial:
    """Subjects of commits, asked of the commits' parents."""
    if not engine.repository.is_git:
        raise UsageError("This folder is no git repository.", "Ask its docs: codesearch eval --from-docs")
    return Trial("history", engine, tuple(from_history(engine.repository, engine.language_set, count)))


@contextmanager
def with_other(trial: Trial, other: str) -> Iterator[tuple[str, Trial]]:
    """The same questions for a model, or for the settings of a TOML file, and the name to show them under.

    What a file sets besides the model may need an index of its own, which is made in a folder that is removed.
    """
    settings = trial.engine.settings
    if not other.endswith(".toml"):
        name = Path(other).name if Path(other).is_dir() else other
        yield name, replace(trial, engine=Engine(trial.engine.repository, replace(settings, model=other)))
        return
    if not Path(other).is_file():
        raise SettingsError(f"There is no file {other}.", "Give --compare a model, or a TOML file with settings.")
    changed = with_file(settings, Path(other))
    if replace(changed, rerank=settings.rerank) == settings:  # the index is the same
        yield Path(other).name, replace(trial, engine=Engine(trial.engine.repository, changed))
        return
    with tempfile.TemporaryDirectory(prefix="codesearch-eval-") as home:
        changed = replace(changed, home=Path(home).resolve())
        yield Path(other).name, replace(trial, engine=Engine(trial.engine.repository, changed))


def missing_places(engine: Engine, evaluation: Evaluation) -> dict[Case, str]:
    """Of the questions that were not answered, those that expect what the working tree no longer has, and why."""
    reasons = {}
    for outcome in evaluation.outcomes:
        if outcome.rank is not None or outcome.case.at is not None:
            continue
        for place in outcome.case.expected:
            try:
                engine.find(place)
            except AmbiguousLocationError:
                continue  # any of those that it may mean would have done
            except LocationError as error:
                reasons[outcome.case] = error.message
    return reasons


def kept_run(engine: Engine, golden: Path) -> Path:
    """The file that keeps the last run of a golden file under these settings, beside the index."""
    settings: Settings = engine.settings
    parts = (
        golden.resolve(), settings.model, settings.exclude, settings.grammars, settings.max_file_bytes,
        *([] if settings.rerank in (None, NO_RERANKER) else [settings.rerank]),
    )  # fmt: skip
    key = blake2b(repr(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return engine.home / "evaluations" / f"{key}.json"


def _has(engine: Engine, revision: str) -> bool:
    try:
        engine.repository.resolve(revision)
    except RepositoryError:
        return False
    return True


def _taken(engine: Engine) -> str:
    """When, and of which commit: `2026-11-30 14:02 UTC, a1b2c3d4`."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    commit, _ = engine.repository.head()
    return f"{now}, {commit[:8]}" if commit else now


def _literal(path: str) -> str:
    """A path as a glob that matches it alone."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)
