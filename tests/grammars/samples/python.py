#!/usr/bin/env python3
# Copyright notice that is no documentation.
"""A module that orders parcels."""

from __future__ import annotations

import re
from typing import overload

# How many parcels fit.
CAPACITY = 12
_RETRY_LIMIT: int = 3
counter = 0  # parcels seen so far
first, second = 1, 2
a = b = None
type Weight = int | float
type Pair[T] = tuple[T, T]
double = lambda value: value * 2

if CAPACITY > 10:

    def is_large() -> bool:
        return True
else:

    def is_large() -> bool:
        return False


try:
    import ujson as json
except ImportError:
    json = None

    class MissingJson(Exception): ...


# Sorts by weight.
#
# Stable.
@overload
def sort(parcels: list[int]) -> list[int]: ...
@overload
def sort(parcels: str) -> str: ...
def sort(parcels):
    """Sorts parcels.

    The heaviest comes last.
    """
    local = sorted(parcels)

    def by_weight(parcel):
        return parcel.weight

    class Sorter:
        order = "ascending"

        def run(self):
            return local

    return local
    # nothing more to sort

# belongs to nothing

@decorate(
    level=1,
)
# between decorator and class
class Parcel(Base, metaclass=Meta):  # why
    # a comment before the docstring
    'One parcel.'

    LIMIT = 30
    weight: float
    label: str = ""

    def __init__(self, weight: float,
                 label: str = "") -> None:
        self.weight = weight
        self.label = label

    @property
    def heavy(self) -> bool:
        """Whether two people must carry it."""
        return self.weight > self.LIMIT

    @heavy.setter
    def heavy(self, value): self.weight = 40 if value else 1  # roughly

    @staticmethod
    async def fetch(identifier):
        async with connect() as connection:
            return await connection.get(identifier)

    class Address:
        street = None

        class Country:
            def code(self): return "XX"
            # still inside code's class


def one(): pass; x = 1
def two(): return one()
