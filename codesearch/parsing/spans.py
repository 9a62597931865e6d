"""Works out how declarations nest and which bytes each cites: decorators, doc comments and trailing comments too.

Plain arithmetic on byte ranges; touches no syntax tree.
"""

from __future__ import annotations

from codesearch.languages import Syntax
from codesearch.parsing.facts import Facts, Found
from codesearch.parsing.source import BLANK, Source, back, forward
from codesearch.types import Kind


def nest(facts: Facts, syntax: Syntax) -> list[Found]:
    """Declarations in order of start, each with its parent and final kind, without local variables."""
    if syntax.open_ended:
        _reach_for_the_next(facts, syntax)
    entries: list[tuple[int, int, int, Found | None]] = [
        (found.start, -found.end, 1, found) for found in facts.declarations.values()
    ]
    entries += [(start, -end, 0, None) for start, end in facts.locals]
    entries.sort(key=lambda entry: entry[:3])
    kept: list[Found] = []
    stack: list[tuple[int, Found | None, bool, Found | None]] = []  # end, declaration, local?, nearest declaration
    for start, negative_end, _, found in entries:
        end = -negative_end
        while stack and stack[-1][0] <= start:
            stack.pop()
        parent, is_local = (stack[-1][3], stack[-1][2]) if stack else (None, False)
        if found is None:
            stack.append((end, None, True, parent))
            continue
        if is_local and found.capture in syntax.skip_locals:
            continue
        if parent and (parent.start, parent.end) == (found.start, found.end):
            continue
        if parent:
            found.parent = parent
            found.kind = syntax.nested.get(parent.kind, {}).get(found.kind, found.kind)
        kept.append(found)
        if found.kind.is_callable:
            is_local = True
        elif found.kind.is_container:
            is_local = False
        stack.append((end, found, is_local, found))
    return kept


def _reach_for_the_next(facts: Facts, syntax: Syntax) -> None:
    """Lets each open-ended declaration end where the next one like it starts, or with the file."""
    open_ended = [found for found in facts.declarations.values() if found.capture in syntax.open_ended]
    following: dict[str, int] = {}
    for found in sorted(open_ended, key=lambda found: found.start, reverse=True):
        if found.body < 0:
            found.body = found.end
        found.end = max(found.end, following.get(found.capture, facts.end))
        following[found.capture] = found.start


def extend(found: list[Found], facts: Facts, source: Source) -> None:
    """Sets the cited span of each: wrappers, doc comments and attributes above, a `;` and comments behind."""
    own = {each.node_id for each in found}
    wrapped: dict[int, list[Found]] = {}
    for each in found:
        # Some grammars begin a node with the blanks before it.
        each.first, each.last = forward(source.content, each.start, BLANK), each.end
        around = facts.wrappers.get(each.node_id)
        while around and around[0] not in own:
            wrapped.setdefault(around[0], []).append(each)
            around = facts.wrappers.get(around[0])
    bounds = {node_id: (start, end) for node_id, start, end in facts.wrappers.values()}
    for node_id, inside in wrapped.items():
        # Of several declarations in one statement, the first has its beginning and the last its end.
        start, end = bounds[node_id]
        inside[0].first = min(inside[0].first, start)
        inside[-1].last = max(inside[-1].last, end)
    for each in found:
        each.proper = source.behind_comments(each.first)  # some grammars put a doc comment into the declaration
        each.lead = source.lead(each.proper)
        if each.lead:
            each.first = min(each.first, each.lead[-1].start)
            each.doc = each.doc or next((facts.docs[start] for start, _, _ in each.lead if start in facts.docs), "")
        each.last = source.end_with_trail(each.first, each.last)
        each.trail = source.comments_behind(each.last)
        if each.trail:
            each.last = each.trail[-1].end
    if source.syntax.open_ended:
        _yield_comments(found, source)
    _part(found, source.content)
    for each in reversed(found):  # members before what encloses them
        if each.parent:
            if each.trail and each.parent.trail and each.parent.trail[0] == each.trail[0]:
                each.parent.trail = []  # it speaks of the last member
            each.parent.last = max(each.parent.last, each.last)
            each.parent.first = min(each.parent.first, each.first)


def _yield_comments(found: list[Found], source: Source) -> None:
    """Ends each open-ended declaration before the comments of the next one like it."""
    latest: dict[str, Found] = {}
    for each in found:
        if each.capture in source.syntax.open_ended:
            before = latest.get(each.capture)
            if before:
                before.last = min(before.last, back(source.content, each.first))
            latest[each.capture] = each


def _part(found: list[Found], content: bytes) -> None:
    """Parts neighbours that grew into each other: in broken code a wrapper can hold what is not its own."""
    floor = 0
    open_: list[Found] = []
    for each in found:
        while open_ and open_[-1].end <= each.start:
            before = open_.pop()
            if before.last > each.first:
                each.first = max(each.first, before.end)
                before.last = back(content, min(before.last, each.first))
            floor = max(floor, before.last)
        if each.first < floor:
            each.first = floor
        if each.first > each.proper or content[each.first] in BLANK:
            each.first = forward(content, each.first, BLANK)
            each.proper = max(each.proper, each.first)
        open_.append(each)


def merge(found: list[Found], source: Source) -> list[Found]:
    """Makes one declaration of neighbours with one name: a signature and the clauses of its function, or overloads.

    Only comments and attributes may stand between them.
    """
    syntax = source.syntax
    if not syntax.merge and not syntax.overloads:
        return found
    latest: dict[int, Found] = {}
    kept = []
    for each in found:
        if each.parent and each.parent.merged_into:
            each.parent = each.parent.merged_into
        key = id(each.parent)
        before = latest.get(key)
        is_clause = each.kind in syntax.merge
        is_overload = before is not None and before.body < 0 and each.kind in syntax.overloads
        if (
            before
            and (is_clause or is_overload)
            and _clause(before) == _clause(each)
            and source.is_blank(before.last, each.first)
        ):
            if before.body < 0 <= each.body and is_clause:  # what stands first has no body: it is the signature
                before.body = before.trail[0].start if before.trail else forward(source.content, before.last, BLANK)
            elif is_overload:  # what they say belongs to the signature of the whole
                before.body, before.name_end = each.body, max(before.name_end, each.name_end)
            before.last = max(before.last, each.last)
            before.doc = before.doc or each.doc
            before.trail += each.trail
            each.merged_into = before
            continue
        latest[key] = each
        kept.append(each)
    return kept


def _clause(found: Found) -> tuple[Kind, list[str], str, int]:
    return found.kind, found.names, found.scope, found.parameters
