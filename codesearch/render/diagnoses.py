"""A diagnosis as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from codesearch.diagnosis import Check, State
from codesearch.render.documents import SCHEMA, Document
from codesearch.render.safe import sanitise
from codesearch.render.text import Line, Role

_ROLES = {State.WELL: Role.PLAIN, State.NOTE: Role.FAINT, State.WRONG: Role.KIND}


def diagnosis_layout(checks: Sequence[Check]) -> Iterator[Line]:
    """A line for each check, and one with what to do below those that are not well."""
    for check in checks:
        mark = (f"{check.state.value:<6}", _ROLES[check.state])
        yield Line((mark, (f"{check.name:<12}", Role.SYMBOL), (sanitise(check.found), Role.PLAIN)))
        if check.hint:
            yield Line(((f"{'':18}{sanitise(check.hint)}", Role.FAINT),))


def diagnosis_document(checks: Sequence[Check]) -> Document:
    """All checks, and whether none is wrong."""
    return {
        "schema": SCHEMA,
        "well": all(check.state is not State.WRONG for check in checks),
        "checks": [{**asdict(check), "state": check.state.value} for check in checks],
    }
