"""Analysing many blobs in processes of their own: parsing is the floor of indexing, and it holds one core."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Queue

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

    At most two batches a process are under way, so that memory stays bounded. Where no process can be started, the
    work is done in this one.
    """
    remaining = iter(batches)
    waiting: deque[Future[Result]] = deque()
    workers: Queue[_Worker] = Queue()
    for _ in range(jobs):
        workers.put(_Worker((settings, list(segments), store)))

    def work(batch: list[Pending]) -> Result:
        worker = workers.get()
        try:
            return worker.analyse(batch)
        finally:
            workers.put(worker)

    # A thread waits for each process; the threads do nothing themselves.
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                for batch in islice(remaining, 2 * jobs - len(waiting)):
                    waiting.append(pool.submit(work, batch))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            for _ in range(jobs):
                workers.get().stop()


class _Worker:
    """A process that analyses batches sent to its standard input.

    Not a multiprocessing pool: its workers would run the main script of whoever uses this library again. `-P` keeps
    the current folder, which is the repository's and not trusted, off the import path. A worker ends when its input
    does, so none outlives a parent that was killed.
    """

    def __init__(self, making: tuple[Settings, list[Path], Path]) -> None:
        self._making = making
        self._process: subprocess.Popen[bytes] | None = None

    def analyse(self, batch: list[Pending]) -> Result:
        """The result of a batch; an error of the analysis is raised here."""
        for _ in range(2):  # a process that was killed from outside is started once more
            try:
                answer = self._ask(batch)
            except (OSError, EOFError, pickle.UnpicklingError):
                self.stop()
                continue
            if isinstance(answer, Result):
                return answer
            raise answer
        return analyse_batch(_make_analyser(*self._making), batch)

    def _ask(self, batch: list[Pending]) -> Result | Exception:
        if self._process is None:
            home = str(Path(__file__).parent.parent)
            program = f"import sys; sys.path.insert(0, {home!r}); from codesearch.workers import serve; serve()"
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._send(self._making)
        self._send(batch)
        assert self._process.stdout is not None
        answer: Result | Exception = pickle.load(self._process.stdout)  # noqa: S301 - from our own process
        return answer

    def _send(self, value: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        pickle.dump(value, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def stop(self) -> None:
        """Ends the process, in the middle of its work if need be."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def serve() -> None:
    """The main loop of a worker process: batches come in, results go out, until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that a library prints may get between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    try:
        analyser = _make_analyser(*pickle.load(sys.stdin.buffer))  # noqa: S301 - from our own parent
        while True:
            batch: list[Pending] = pickle.load(sys.stdin.buffer)  # noqa: S301 - as above
            try:
                answer: Result | Exception = analyse_batch(analyser, batch)
            except Exception as error:
                answer = error
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


def _make_analyser(settings: Settings, segments: Iterable[Path], store: Path) -> Analyser:
    embedder = load_embedder(settings.model)
    stored = StoredVectors(Store(store), embedder.model_id)
    known = KnownVectors.of_segments((Segment.open(path) for path in segments), stored)
    return Analyser(load_languages(settings.grammars), embedder, known)
