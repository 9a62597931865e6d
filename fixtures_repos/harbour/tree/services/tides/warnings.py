"""Watches gauges and tells people before their feet get wet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import Enum


class Level(Enum):
    """How worried to be; the value is the water level in metres from which it applies."""

    GREEN = 0.0
    AMBER = 4.6
    RED = 5.3

    @classmethod
    def of(cls, metres: float) -> Level:
        """The highest level whose threshold the water has reached."""
        return max((level for level in cls if metres >= level.value), key=lambda level: level.value)


class Hysteresis:
    """Keeps a warning from flickering: it is only lowered well below its threshold."""

    MARGIN = 0.15  # metres; waves in the basin are about ten centimetres high

    def __init__(self) -> None:
        self.current = Level.GREEN

    def update(self, metres: float) -> Level:
        """The level after a new reading."""
        wanted = Level.of(metres)
        if wanted.value > self.current.value or metres < self.current.value - self.MARGIN:
            self.current = wanted
        return self.current


async def watch_gauge(
    readings: AsyncIterator[float], notify: Callable[[Level], Awaitable[None]]
) -> None:
    """Reads a gauge until it ends and calls `notify` whenever the level changes."""
    state = Hysteresis()
    before = state.current
    async for metres in readings:
        after = state.update(metres)
        if after is not before:
            await notify(after)
            before = after
        await asyncio.sleep(0)


def flood_sms_text(level: Level, place: str) -> str:
    """The text message for a level; fits into 160 letters."""
    return f"{place}: water level {level.name.lower()}. Leave the lower quay."[:160]
