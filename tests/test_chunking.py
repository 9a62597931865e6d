"""Source code to chunks: examples with whole expected values."""

import re
from dataclasses import replace

from codesearch.chunking import TokenBudget, chunk_code, chunk_text
from codesearch.types import Chunk, Declaration, Kind, ParsedFile, Span


def words(limit):
    return TokenBudget(limit, lambda text: len(re.findall(r"\w+", text)))


def declare(source, kind, text, *, symbol, parent=-1, outer="", doc="", borders=(), body=None):
    """A declaration of the one place where `text` stands in `source`."""
    start = source.index(text)
    end = start + len(text)
    lines = Span(start, end, source.count("\n", 0, start) + 1, source.count("\n", 0, end - 1) + 1)
    signature = text.split("\n")[0].rstrip(":")
    body_start = end if body is None else source.index(body)
    places = tuple((source.index(border), depth) for border, depth in borders)
    return Declaration(symbol, outer + symbol, kind, signature, doc, lines, parent, body_start, places)


def shape(source, chunks):
    """Lines, what, whose and which text of each chunk, for reading."""
    return [
        (
            f"{c.span.start_line}-{c.span.end_line}",
            ("above " if c.synthetic else "") + c.kind,
            c.symbol or c.parents,
            c.body,
        )
        for c in chunks
    ]


SHOP = '''"""A shop."""
import json

LIMIT = 3


def open_shop(name):
    return Shop(name)


class Shop:
    """Sells things."""

    currency = "EUR"

    def sell(self, thing):
        return self.price(thing)

    def price(self, thing):
        return 1
'''
SELL = "def sell(self, thing):\n        return self.price(thing)"
PRICE = "def price(self, thing):\n        return 1"
CLASS = SHOP[SHOP.index("class") :].rstrip()


def parse_shop(source=SHOP, sell=SELL):
    klass = source[source.index("class") :].rstrip()
    return ParsedFile(
        "python",
        (
            declare(source, Kind.CONSTANT, "LIMIT = 3", symbol="LIMIT"),
            declare(
                source,
                Kind.FUNCTION,
                "def open_shop(name):\n    return Shop(name)",
                symbol="open_shop",
                body="return Shop",
            ),
            declare(source, Kind.CLASS, klass, symbol="Shop", doc="Sells things.", body='"""Sells'),
            declare(source, Kind.VARIABLE, 'currency = "EUR"', symbol="currency", parent=2, outer="Shop."),
            declare(source, Kind.METHOD, sell, symbol="sell", parent=2, outer="Shop.", body="return self"),
            declare(source, Kind.METHOD, PRICE, symbol="price", parent=2, outer="Shop.", body="return 1"),
        ),
        doc="A shop.",
    )


def test_file_becomes_functions_methods_remainders_and_digests_above_them():
    chunks = chunk_code(SHOP.encode(), parse_shop(), words(60))
    assert shape(SHOP, chunks) == [
        (
            "1-20",
            "above file",
            "",
            "A shop.\nLIMIT = 3\ndef open_shop(name)\nclass Shop\n"
            'currency = "EUR"\ndef sell(self, thing)\ndef price(self, thing)\nimport json',
        ),
        ("1-4", "remainder", "", '"""A shop."""\nimport json\n\nLIMIT = 3\n'),
        ("5-6", "remainder", "", ""),
        ("7-8", "function", "open_shop", "def open_shop(name):\n    return Shop(name)"),
        ("8-10", "remainder", "", ""),
        (
            "11-20",
            "above class",
            "Shop",
            'class Shop\nSells things.\ncurrency = "EUR"\ndef sell(self, thing)\ndef price(self, thing)',
        ),
        ("11-14", "remainder", "Shop", 'class Shop:\n    """Sells things."""\n\n    currency = "EUR"\n'),
        ("15-16", "remainder", "Shop", ""),
        ("16-17", "method", "sell", SELL),
        ("17-19", "remainder", "Shop", ""),
        ("19-20", "method", "price", PRICE),
        ("20-20", "remainder", "", ""),
    ]


def test_method_chunk_says_where_it_lives():
    chunk = next(c for c in chunk_code(SHOP.encode(), parse_shop(), words(60)) if c.symbol == "sell")
    assert chunk == Chunk(
        kind=Kind.METHOD,
        span=Span(SHOP.index(SELL), SHOP.index(SELL) + len(SELL), 16, 17),
        declaration=4,
        own=True,
        symbol="sell",
        parents="Shop",
        signature="def sell(self, thing)",
        body=SELL,
    )


def test_editing_a_function_body_changes_no_text_but_its_own():
    edited_sell = "def sell(self, thing):\n        thing.wrap()\n        return self.price(thing) * 2"
    edited = SHOP.replace(SELL, edited_sell)
    before = chunk_code(SHOP.encode(), parse_shop(), words(60))
    after = chunk_code(edited.encode(), parse_shop(edited, edited_sell), words(60))
    texts = [[replace(c, span=Span(0, 0, 0, 0)) for c in chunks] for chunks in (before, after)]
    assert [c.symbol for c, old in zip(texts[1], texts[0], strict=True) if c != old] == ["sell"]


def test_small_class_without_functions_is_one_chunk():
    source = "x = 1\nclass Point:\n    x: int\n    y: int\n"
    text = "class Point:\n    x: int\n    y: int"
    parsed = ParsedFile("python", (declare(source, Kind.CLASS, text, symbol="Point"),))
    leaves = [c for c in chunk_code(source.encode(), parsed, words(50)) if not c.synthetic]
    assert shape(source, leaves) == [
        ("1-1", "remainder", "", "x = 1\n"),
        ("2-4", "class", "Point", text),
        ("4-4", "remainder", "", ""),
    ]


def test_interface_stays_whole_and_its_methods_are_found_above_it():
    source = "type Reader interface {\n\tRead(p []byte)\n\tClose()\n}\n"
    reader = declare(source, Kind.INTERFACE, source.rstrip(), symbol="Reader", body="{")
    read = declare(source, Kind.METHOD, "Read(p []byte)", symbol="Read", parent=0, outer="Reader.")
    close = declare(source, Kind.METHOD, "Close()", symbol="Close", parent=0, outer="Reader.")
    chunks = chunk_code(source.encode(), ParsedFile("go", (reader, read, close)), words(50))
    assert shape(source, chunks)[1:] == [
        ("1-4", "interface", "Reader", source.rstrip()),
        ("2-2", "above method", "Read", "Read(p []byte)"),
        ("3-3", "above method", "Close", "Close()"),
        ("4-4", "remainder", "", ""),
    ]


LONG = """def run(job):
    prepare(job, one, two)
    for step in job:
        first(step, one, two)
        second(step, one, two)
    finish(job, one, two)
    close(job, one, two)
"""


def parse_long():
    borders = (("prepare", 0), ("for step", 0), ("first", 1), ("second", 1), ("finish", 0), ("close", 0))
    run = declare(LONG, Kind.FUNCTION, LONG.rstrip(), symbol="run", doc="Runs.", borders=borders, body="prepare")
    return ParsedFile("python", (run,))


def test_long_function_is_split_at_statements_into_balanced_parts_that_carry_its_signature():
    chunks = [c for c in chunk_code(LONG.encode(), parse_long(), words(18)) if c.own]
    assert [(c.part, c.parts, c.doc, c.signature) for c in chunks] == [
        (0, 3, "Runs.", "def run(job)"),
        (1, 3, "", "def run(job)"),
        (2, 3, "", "def run(job)"),
    ]
    assert shape(LONG, chunks) == [
        ("1-2", "function", "run", "def run(job):\n    prepare(job, one, two)\n"),
        (
            "3-5",
            "function",
            "run",
            "def run(job)\n    for step in job:\n        first(step, one, two)\n        second(step, one, two)\n",
        ),
        ("6-7", "function", "run", "def run(job)\n    finish(job, one, two)\n    close(job, one, two)"),
    ]


def test_statement_that_is_too_large_alone_is_split_at_the_statements_inside_it():
    chunks = [c for c in chunk_code(LONG.encode(), parse_long(), words(12)) if c.own]
    assert [(c.span.start_line, c.span.end_line) for c in chunks] == [(1, 2), (3, 4), (5, 6), (7, 7)]


OUTER = """def outer(a):
    def inner(b):
        return b + a + 1

    use(inner, a)
    return inner
"""
INNER = "def inner(b):\n        return b + a + 1"


def parse_outer():
    outer = declare(OUTER, Kind.FUNCTION, OUTER.rstrip(), symbol="outer", body="def inner")
    inner = declare(OUTER, Kind.FUNCTION, INNER, symbol="inner", parent=0, outer="outer.", body="return b")
    return ParsedFile("python", (outer, inner))


def test_nested_function_lies_above_the_leaf_of_a_whole_outer_one():
    chunks = chunk_code(OUTER.encode(), parse_outer(), words(40))
    assert shape(OUTER, chunks)[1:] == [
        ("1-6", "function", "outer", OUTER.rstrip()),
        ("2-3", "above function", "inner", INNER),
        ("6-6", "remainder", "", ""),
    ]
    assert chunks[2].parents == "outer"


def test_nested_function_is_a_leaf_when_the_outer_one_is_split():
    # "end of outer" is short, so it is a rest of the outer function and no part of it.
    chunks = chunk_code(OUTER.encode(), parse_outer(), words(12))
    assert shape(OUTER, chunks)[1:] == [
        ("1-1", "function", "outer", "def outer(a):\n"),
        ("2-2", "remainder", "outer", ""),
        ("2-3", "function", "inner", INNER),
        ("3-4", "remainder", "outer", ""),
        ("5-6", "remainder", "outer", "    use(inner, a)\n    return inner"),
        ("6-6", "remainder", "", ""),
    ]


def test_two_functions_declared_by_one_text_are_both_found():
    source = "f = g = lambda x: x\n"
    text = source.rstrip()
    parsed = ParsedFile(
        "python",
        (declare(source, Kind.FUNCTION, text, symbol="f"), declare(source, Kind.FUNCTION, text, symbol="g")),
    )
    assert shape(source, chunk_code(source.encode(), parsed, words(40)))[1:] == [
        ("1-1", "above function", "g", text),
        ("1-1", "function", "f", text),
        ("1-1", "remainder", "", ""),
    ]


def test_large_constant_is_a_leaf_and_a_small_one_is_not():
    source = "SMALL = 1\nTABLE = [\n    one,\n    two,\n    three,\n]\n"
    table = source[source.index("TABLE") :].rstrip()
    small = declare(source, Kind.CONSTANT, "SMALL = 1", symbol="SMALL")
    large = declare(source, Kind.CONSTANT, table, symbol="TABLE")
    leaves = [
        c for c in chunk_code(source.encode(), ParsedFile("python", (small, large)), words(60)) if not c.synthetic
    ]
    assert shape(source, leaves) == [
        ("1-1", "remainder", "", "SMALL = 1\n"),
        ("2-6", "constant", "TABLE", table),
        ("6-6", "remainder", "", ""),
    ]


def test_go_method_gets_its_receiver_as_parent():
    source = "func (c *Client) Do() {\n}\n"
    method = declare(source, Kind.METHOD, source.rstrip(), symbol="Do", outer="Client.", body="{")
    chunks = chunk_code(source.encode(), ParsedFile("go", (method,)), words(60))
    assert [c.parents for c in chunks if c.own] == ["Client"]


def test_outline_of_a_huge_file_names_outer_declarations_first():
    methods = "".join(f"    def method{i}(self, one, two, three): ...\n" for i in range(30))
    source = f"class A:\n{methods}class B:\n    pass\n"
    first = source[: source.index("class B")].rstrip()
    declarations = [declare(source, Kind.CLASS, first, symbol="A", body="def method0")]
    for i in range(30):
        text = f"def method{i}(self, one, two, three): ..."
        declarations.append(declare(source, Kind.METHOD, text, symbol=f"method{i}", parent=0, outer="A.", body=text))
    declarations.append(declare(source, Kind.CLASS, "class B:\n    pass", symbol="B"))
    chunk = chunk_code(source.encode(), ParsedFile("python", tuple(declarations)), words(8))[0]
    assert chunk.body == "A method0 method1 method2 method3 method4 method5 B"


def test_bom_and_crlf_are_in_the_span_and_not_in_the_body():
    content = b"\xef\xbb\xbfx = 1\r\ny = 2\r\n"
    chunks = chunk_code(content, ParsedFile("python", ()), words(60))
    assert chunks == [Chunk(Kind.BLOCK, Span(0, 17, 1, 2), body="x = 1\ny = 2\n")]


def test_empty_file_has_no_chunks():
    assert chunk_code(b"", ParsedFile("python", ()), words(60)) == []
    assert chunk_text(b"", words(60)) == []


def test_text_blocks_overlap_in_their_bodies_only():
    content = b"one two three.\nfour five six.\n\nseven eight nine.\nten eleven twelve.\n"
    chunks = chunk_text(content, words(8))
    assert [(c.kind, c.span, c.body) for c in chunks] == [
        (Kind.BLOCK, Span(0, 31, 1, 3), "one two three.\nfour five six.\n\n"),
        (Kind.BLOCK, Span(31, 68, 4, 5), "six.\n\nseven eight nine.\nten eleven twelve.\n"),
    ]


def test_tokenizer_is_not_asked_when_a_text_is_short_enough_in_bytes():
    asked = []
    budget = TokenBudget(100, lambda text: asked.append(text) or len(text))
    assert budget.fits("x" * 100)
    assert asked == [""]


def test_two_thousand_nested_functions_are_chunked():
    source = b"".join(b"def f%04d():\n" % i for i in range(2000)) + b"end\n" * 2000
    declarations = [
        Declaration(
            f"f{i}",
            f"f{i}",
            Kind.FUNCTION,
            f"def f{i}",
            "",
            Span(13 * i, len(source) - 4 * i, 1, 1),
            i - 1,
            13 * i,
        )
        for i in range(2000)
    ]
    chunks = chunk_code(source, ParsedFile("python", tuple(declarations)), words(50))
    assert {c.declaration for c in chunks if c.own} == set(range(2000))
