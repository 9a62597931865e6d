"""The line that the query is typed into."""

from __future__ import annotations

from collections.abc import Callable

from textual.suggester import Suggester
from textual.widgets import Input

from codesearch.tui.typed import Known, completed


class Field(Input):
    """The query; the right arrow completes a filter at its end."""

    def __init__(self, known: Callable[[], Known]) -> None:
        super().__init__(id="query", compact=True, suggester=_Completer(known), select_on_focus=False)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """`?` is a key, not a character, where nothing is typed."""
        return bool(self.value or character != "?") and super().check_consume_key(key, character)


class _Completer(Suggester):
    def __init__(self, known: Callable[[], Known]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        """The input with its last filter completed."""
        return completed(value, self._known())
