"""Reads dates as people give them for a revision. Pure: git itself would take any word for a date, as the present."""

from __future__ import annotations

import re
from datetime import datetime

_RELATIVE = re.compile(
    r"yesterday|last (week|month|year)|(\d{1,4}|an?|one) (second|minute|hour|day|week|month|year)s? ago", re.IGNORECASE
)
# With dashes: digits alone are more likely the beginning of a commit's id.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def git_date(text: str) -> str | None:
    """What git's `--before` is to be given, or None for what is no date.

    A day means its end, `yesterday` and the like the same time on that day.
    """
    words = " ".join(text.split())
    if _RELATIVE.fullmatch(words):
        return re.sub(r"^an? |^one ", "1 ", words.lower())
    if not _DAY.match(words):
        return None
    try:
        datetime.fromisoformat(words)
    except ValueError:
        return None
    return f"{words}T23:59:59" if _DAY.fullmatch(words) else words
