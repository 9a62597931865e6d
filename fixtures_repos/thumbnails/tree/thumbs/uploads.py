"""Sends finished thumbnails to the object store."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from thumbs.errors import UploadTimedOut

MAX_ATTEMPTS = 5  # with the pauses below, about half a minute in all


class Target(Protocol):
    """Where thumbnails go."""

    def send(self, name: str, data: bytes) -> None:
        """Stores one object; raises UploadTimedOut when the store does not answer."""


def pauses(base: float = 0.5, factor: float = 2.0) -> Iterator[float]:
    """Seconds to wait between attempts: exponential, with jitter so that clients do not retry in step."""
    delay = base
    while True:
        yield delay * random.uniform(0.5, 1.5)
        delay *= factor


def upload_with_retry(
    target: Target, name: str, data: bytes, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Uploads an object, trying again after a timeout; the number of attempts that it took."""
    for attempt, pause in enumerate(pauses(), start=1):
        try:
            target.send(name, data)
        except UploadTimedOut:
            if attempt == MAX_ATTEMPTS:
                raise
            sleep(pause)
        else:
            return attempt
    raise AssertionError("pauses() never ends")
