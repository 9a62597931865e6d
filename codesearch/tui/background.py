"""One thread that owns the engine. Newer work of a slot replaces what waits there; stale answers are dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from codesearch.types import Progress

Result = TypeVar("Result")
SLOTS = ("search", "preview", "panel", "chores")  # what waits is done in this order


class Stopped(BaseException):
    """Raised inside long work once nobody waits for it; no library mistakes it for an error of its own."""


class Background:
    """Does work in a thread of its own; `deliver` runs a function in the thread of the user interface."""

    def __init__(self, deliver: Callable[[Callable[[], object]], object]) -> None:
        self._deliver = deliver
        self._changed = threading.Condition()
        self._waiting: dict[str, tuple[int, Callable[[], Any], Callable[[Any], object]]] = {}
        self._newest = dict.fromkeys(SLOTS, 0)
        self._stopped = False
        # Ends with the process: what it does may be killed at any instruction.
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, slot: str, work: Callable[[], Result], done: Callable[[Result | Exception], object]) -> None:
        """Does `work`, and hands its result or its error to `done`, unless newer work of the slot came meanwhile."""
        with self._changed:
            self._newest[slot] += 1
            self._waiting[slot] = self._newest[slot], work, done
            self._changed.notify()

    def withdraw(self, slot: str) -> None:
        """No answer of what a slot was asked before will come."""
        with self._changed:
            self._newest[slot] += 1
            self._waiting.pop(slot, None)

    def check(self, _: Progress | None = None) -> None:
        """Called within long work; raises Stopped after `stop`."""
        if self._stopped:
            raise Stopped

    def stop(self, seconds: float) -> bool:
        """Takes no more work, waits for what is under way to notice, and says whether it has."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    while not self._waiting and not self._stopped:
                        self._changed.wait()
                    if self._stopped:
                        return
                    slot = min(self._waiting, key=SLOTS.index)
                    number, work, done = self._waiting.pop(slot)
                try:
                    result: Any = work()
                except Exception as error:
                    result = error
                if number == self._newest[slot] and not self._stopped:
                    self._deliver(partial(self._answer, slot, number, done, result))
        except Stopped:
            return

    def _answer(self, slot: str, number: int, done: Callable[[Any], object], result: Any) -> None:
        if number == self._newest[slot] and not self._stopped:
            done(result)
