"""Analysing many blobs in processes of their own: parsing is the floor of indexing, and it holds one core."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis import Analyser, Pending
from codesearch.embedding import load_embedder
from codesearch.languages import load_languages
from codesearch.settings import Settings
from codesearch.store import Store, StoredVectors
from codesearch.types import Chunk
from codesearch.view.segment import Segment
from codesearch.view.vectors import KnownVectors

_analyser: Analyser | None = None  # of this worker process


@dataclass(frozen=True, eq=False)
class Result:
    """The segment of a batch, the texts of its chunks in order, and which of them had to be embedded."""

    segment: Segment
    chunks: list[Chunk]
    fresh: NDArray[np.bool_]


def analyse_batch(analyser: Analyser, batch: list[Pending]) -> Result:
    """Analyses one batch in this process."""
    builder = analyser.new_builder()
    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of small values that live as long as the batch: a third of the time
    try:
        chunks, fresh = analyser.add(builder, batch)
        return Result(builder.build(), chunks, fresh)
    finally:
        if collecting:
            gc.enable()


def analyse_in_processes(
    batches: Iterable[list[Pending]], jobs: int, settings: Settings, segments: Sequence[Path], store: Path
) -> Iterator[Result]:
    """Analyses batches in `jobs` processes; results come in the order of the batches.

    At most two batches a process are under way, so that memory stays bounded. When processes cannot be had (a
    script without a main guard, no shared memory), the rest is done in this one.
    """
    remaining = iter(batches)
    waiting: deque[tuple[list[Pending], Future[Result]]] = deque()
    make = (settings, list(segments), store)
    # A spawned interpreter would look for modules in the current folder first: in the repository, which is not
    # trusted to bring any.
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        # Spawned, not forked: the parent may hold threads and locks (a terminal interface, LanceDB).
        with ProcessPoolExecutor(jobs, get_context("spawn"), _start, make) as pool:
            while True:
                for batch in islice(remaining, 2 * jobs - len(waiting)):
                    waiting.append((batch, pool.submit(_work, batch)))
                if not waiting:
                    return
                result = waiting[0][1].result()
                waiting.popleft()
                yield result
    except BrokenProcessPool:
        analyser = _make_analyser(*make)
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
    for batch in chain([batch for batch, _ in waiting], remaining):
        yield analyse_batch(analyser, batch)


def _make_analyser(settings: Settings, segments: Iterable[Path], store: Path) -> Analyser:
    embedder = load_embedder(settings.model)
    stored = StoredVectors(Store(store), embedder.model_id)
    known = KnownVectors.of_segments((Segment.open(path) for path in segments), stored)
    return Analyser(load_languages(settings.grammars), embedder, known)


def _start(settings: Settings, segments: list[Path], store: Path) -> None:
    global _analyser
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _analyser = _make_analyser(settings, segments, store)


def _end_with_parent() -> None:
    """A killed parent must not leave workers behind that wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(batch: list[Pending]) -> Result:
    if _analyser is None:
        raise RuntimeError("the worker was not started")
    return analyse_batch(_analyser, batch)
