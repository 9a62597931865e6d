"""Predicts the water level as a sum of cosines, one for each constituent of the tide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Constituent:
    """One periodic part of the tide: the moon's, the sun's, and what they do to each other."""

    name: str
    amplitude: float
    """Metres."""
    period_hours: float
    phase: float
    """Radians at the epoch."""

    def level(self, hours: float) -> float:
        """What this part adds, in metres."""
        return self.amplitude * math.cos(2 * math.pi * hours / self.period_hours - self.phase)


M2 = Constituent("M2", 1.42, 12.4206, 0.61)
S2 = Constituent("S2", 0.38, 12.0, 1.90)
O1 = Constituent("O1", 0.11, 25.8193, 2.75)
MEAN_LEVEL = 3.1  # metres above chart datum, from nineteen years of readings


class TideTable:
    """Predicted levels at one gauge."""

    def __init__(self, epoch: datetime, constituents: tuple[Constituent, ...] = (M2, S2, O1)) -> None:
        self.epoch = epoch
        self.constituents = constituents

    def level_at(self, moment: datetime) -> float:
        """Predicted level in metres above chart datum, without wind."""
        hours = (moment - self.epoch) / timedelta(hours=1)
        return MEAN_LEVEL + sum(part.level(hours) for part in self.constituents)

    def next_high_water(self, after: datetime) -> datetime:
        """The next maximum, to the minute: climbs until the level falls."""
        step = timedelta(minutes=1)
        moment = after
        while self.level_at(moment + step) <= self.level_at(moment):
            moment += step
        while self.level_at(moment + step) > self.level_at(moment):
            moment += step
        return moment


def fading_offset(metres: float, age: timedelta, lifetime: timedelta = timedelta(hours=12)) -> float:
    """A correction entered by hand, fading out linearly over its lifetime."""
    left = 1 - age / lifetime
    return metres * max(0.0, left)
