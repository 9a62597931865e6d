"""Properties that hold for any content and any declarations, however odd."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from codesearch.chunking import TokenBudget, chunk_code, chunk_prose, chunk_text
from codesearch.types import Declaration, Kind, ParsedFile, Span

LINES = (
    "def f(x):",
    "    return x + 1",
    "",
    "  ",
    "}",
    "é = '日本語'  # ü",
    "end",
    "a b c d e f g h i j",
    "\t",
    "€" * 20,
)
ENDS = ("\n", "\r\n", "\r", "\n\n")
KINDS = (Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.STRUCT, Kind.CONSTANT, Kind.VARIABLE, Kind.TYPE)


def count_words(text):
    return 2 + len(re.findall(r"\w+|[^\w\s]", text))


def tile(content, chunks):
    leaves = [chunk.span for chunk in chunks if not chunk.synthetic]
    at = 0
    for span in leaves:
        assert span.start_byte == at
        assert span.end_byte > at
        at = span.end_byte
    assert at == len(content)


def check_lines(content, chunks):
    for chunk in chunks:
        span = chunk.span
        assert span.start_line == content.count(b"\n", 0, span.start_byte) + 1
        assert span.end_line == content.count(b"\n", 0, span.end_byte - 1) + 1


def check_size(content, chunks, budget):
    for chunk in chunks:
        text = content[chunk.span.start_byte : chunk.span.end_byte].decode("utf-8", "replace")
        assert budget.count(chunk.body) <= budget.limit or len(text) == 1


def check_characters(content, chunks):
    """Cut nowhere inside a character: decoding leaf by leaf gives what decoding all of them gives."""
    leaves = [content[c.span.start_byte : c.span.end_byte] for c in chunks if not c.synthetic]
    assert "".join(leaf.decode() for leaf in leaves) == content.decode()


contents = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)), max_size=40).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)
budgets = st.integers(6, 60).map(lambda limit: TokenBudget(limit, count_words))


@st.composite
def parsed_files(draw):
    content = draw(contents)
    places = st.integers(-2, len(content) + 3)
    declarations = []
    for number in range(draw(st.integers(0, 12))):
        if declarations and draw(st.integers(0, 4)) == 0:
            span = draw(st.sampled_from(declarations)).span
        else:
            start, end = sorted((draw(places), draw(places)))
            span = Span(start, end, 1, 1)
        declarations.append(
            Declaration(
                symbol=f"name{number}",
                qualified_name=f"name{number}",
                kind=draw(st.sampled_from(KINDS)),
                signature=f"def name{number}",
                doc=draw(st.sampled_from(("", "What it does."))),
                span=span,
                parent=draw(st.integers(-1, number - 1)),
                body_start=draw(st.sampled_from((span.start_byte, span.end_byte))),
                borders=tuple(draw(st.lists(st.tuples(places, st.integers(0, 3)), max_size=6))),
            )
        )
    if draw(st.booleans()):
        declarations.sort(key=lambda d: (d.span.start_byte, -d.span.end_byte))
    return content, ParsedFile("python", tuple(declarations))


@settings(max_examples=300, deadline=None)
@given(parsed_files(), budgets)
def test_code_chunks_tile_any_file_within_the_budget(file, budget):
    content, parsed = file
    chunks = chunk_code(content, parsed, budget)
    tile(content, chunks)
    check_lines(content, chunks)
    check_size(content, chunks, budget)
    check_characters(content, chunks)
    assert chunks == chunk_code(content, parsed, budget)


@st.composite
def nested_files(draw):
    """Declarations that nest properly, drawn as a walk that opens and closes them."""
    content = draw(contents.filter(bool))
    text = content.decode()
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=16)))
    places = [len(text[:cut].encode()) for cut in cuts if text[cut - 1 : cut + 1] != "\r\n"]
    spans, open_ = [], []
    for place in places:
        if open_ and draw(st.booleans()):
            spans.append((open_.pop(), place))
        if draw(st.booleans()):
            open_.append(place)
    spans += [(start, len(content)) for start in open_ if start < len(content)]
    spans.sort(key=lambda span: (span[0], -span[1]))
    declarations, stack = [], []
    for number, (start, end) in enumerate(spans):
        while stack and spans[stack[-1]][1] <= start:
            stack.pop()
        kind = draw(st.sampled_from((Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.CONSTANT)))
        parent = stack[-1] if stack else -1
        name = f"name{number}"
        declarations.append(Declaration(name, name, kind, f"def {name}", "", Span(start, end, 1, 1), parent, start))
        stack.append(number)
    return content, ParsedFile("python", tuple(declarations))


@settings(max_examples=300, deadline=None)
@given(nested_files(), budgets)
def test_every_function_and_container_has_chunks_of_its_own(file, budget):
    content, parsed = file
    chunks = chunk_code(content, parsed, budget)
    tile(content, chunks)
    for index, declaration in enumerate(parsed.declarations):
        if not (declaration.kind.is_callable or declaration.kind.is_container):
            continue
        span = declaration.span
        own = [c for c in chunks if c.own and c.declaration == index]
        assert own
        assert [c.part for c in own] == list(range(len(own)))
        assert {c.parts for c in own} == {len(own)}
        for chunk in own:
            assert chunk.signature == declaration.signature
            assert chunk.symbol == declaration.symbol
            assert span.start_byte <= chunk.span.start_byte < chunk.span.end_byte <= span.end_byte
        for chunk in own[1:]:
            assert chunk.body.startswith(budget.clip(declaration.signature, budget.limit // 4))
        if len(own) == 1 and own[0].synthetic:
            assert (own[0].span.start_byte, own[0].span.end_byte) == (span.start_byte, span.end_byte)
        else:
            # What the parts do not cover is covered by declarations inside and by rests of this one.
            for leaf in chunks:
                inside = span.start_byte <= leaf.span.start_byte and leaf.span.end_byte <= span.end_byte
                if inside and not leaf.synthetic:
                    assert leaf.declaration >= index


PROSE = (
    "# Title", "## Part one", "### Detail `x`", "###", "Words and more words. And a second sentence!", "", "",
    "```python", "# no heading", "```", "~~~", "Title", "=====", "-----", "- item", "é日本語", "---",
    "word " * 40,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(PROSE), st.sampled_from(("\n", "\r\n"))), max_size=40),
    st.sampled_from(("markdown", "text")),
    budgets,
)
def test_prose_chunks_tile_any_text_within_the_budget(lines, language, budget):
    content = "".join(line + end for line, end in lines).encode()
    parsed, chunks = chunk_prose(content, language, budget)
    tile(content, chunks)
    check_lines(content, chunks)
    check_size(content, chunks, budget)
    check_characters(content, chunks)
    for index, section in enumerate(parsed.declarations):
        assert section.parent < index
        at = section.span.start_byte
        assert any(c.span.start_byte <= at < c.span.end_byte for c in chunks if not c.synthetic)
        if section.parent >= 0:
            assert section.span.end_byte <= parsed.declarations[section.parent].span.end_byte


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(str.encode)), budgets)
def test_text_blocks_tile_any_bytes_within_the_budget(content, budget):
    chunks = chunk_text(content, budget)
    tile(content, chunks)
    check_lines(content, chunks)
    check_size(content, chunks, budget)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.integers(1, 8))
def test_even_a_budget_of_single_bytes_cuts_no_character(text, limit):
    content = text.encode()
    budget = TokenBudget(limit, lambda text: len(text.encode()))
    for chunks in (chunk_text(content, budget), chunk_code(content, ParsedFile("python", ()), budget)):
        tile(content, chunks)
        check_characters(content, chunks)
        check_size(content, chunks, budget)
