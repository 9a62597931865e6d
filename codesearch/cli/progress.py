"""Progress bars on stderr for work that takes long. Silent where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from codesearch.render.safe import sanitise
from codesearch.types import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

FULL_WIDTH = 60  # columns; a narrower terminal has room for the stage and the count
PATIENCE_S = 0.3  # a bar that appears and vanishes within a blink only distracts


class ProgressBars:
    """A progress callback that draws one bar per stage, from `PATIENCE_S` after its creation on."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, progress: Progress) -> None:
        """Shows how far a stage is."""
        if not self._wanted or time.monotonic() - self._started < PATIENCE_S:
            return
        if self._bars is None:
            self._bars = self._open()
        stage = sanitise(progress.stage)
        total = progress.total or None  # of nothing, nothing is done yet
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total)
        self._bars.update(self._tasks[stage], completed=progress.done, total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Takes the bars away; results are printed after it."""
        if self._bars is not None:
            self._bars.stop()

    @staticmethod
    def _open() -> Bars:
        from rich.console import Console  # 0.1 s, and only for work that takes longer than that
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            ProgressColumn,
            SpinnerColumn,
            Task,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        class Bar(BarColumn):
            def render(self, task: Task) -> ProgressBar:
                """No bar while the total is unknown: an empty one, or a full one of 0, would say something wrong."""
                return super().render(task) if task.total else ProgressBar(total=1, width=0)

        class Count(MofNCompleteColumn):
            def render(self, task: Task) -> Text:
                """No `0/?`."""
                return super().render(task) if task.total else Text()

        class Rate(ProgressColumn):
            def render(self, task: Task) -> Text:
                """How many a second, once that is known."""
                speed = task.finished_speed or task.speed
                return Text(f"{speed:,.0f}/s" if speed and speed >= 1 else "", style="progress.data.speed")

        class Left(TimeRemainingColumn):
            def render(self, task: Task) -> Text:
                """The time left as `0:12 left`; nothing while it is unknown, or when there is none."""
                left = task.time_remaining if task.total else None
                if not left or task.finished:
                    return Text()
                minutes, seconds = divmod(int(left), 60)
                return Text(f"{minutes}:{seconds:02} left", style="progress.remaining")

        console = Console(stderr=True)
        is_wide = console.width >= FULL_WIDTH
        bars = Bars(
            SpinnerColumn("line", finished_text=" "),  # ASCII, for terminals that have nothing else
            TextColumn("{task.description}", markup=False),
            *((Bar(), Count(), Rate(), TimeElapsedColumn(), Left()) if is_wide else (Count(),)),
            console=console,
            transient=True,
        )
        bars.start()
        return bars
