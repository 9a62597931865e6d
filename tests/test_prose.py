"""Markdown and plain text to sections and chunks: examples with whole expected values."""

import re

from codesearch.chunking import TokenBudget, chunk_prose
from codesearch.types import Kind


def words(limit):
    return TokenBudget(limit, lambda text: len(re.findall(r"\w+", text)))


def outline(parsed):
    return [(d.qualified_name, d.span.start_line, d.span.end_line) for d in parsed.declarations]


def leaves(chunks):
    return [(f"{c.span.start_line}-{c.span.end_line}", c.parents, c.symbol, c.body) for c in chunks if not c.synthetic]


FILLER = "word " * 65  # more than the size up to which neighbours are merged


def test_headings_become_nested_sections():
    text = f"Intro.\n\n# Guide\n{FILLER}\n## Install `pip`\n{FILLER}\n# API\n{FILLER}\n"
    parsed, chunks = chunk_prose(text.encode(), "markdown", words(200))
    assert outline(parsed) == [("Guide", 3, 6), ("Guide > Install pip", 5, 6), ("API", 7, 8)]
    assert {d.kind for d in parsed.declarations} == {Kind.SECTION}
    assert leaves(chunks) == [
        ("1-2", "", "", "Intro.\n\n"),
        ("3-4", "", "Guide", f"# Guide\n{FILLER}\n"),
        ("5-6", "Guide", "Install pip", f"## Install `pip`\n{FILLER}\n"),
        ("7-8", "", "API", f"# API\n{FILLER}\n"),
    ]
    assert [c.body for c in chunks if c.synthetic] == ["# Guide\n## Install `pip`\n# API"]


def test_headings_in_code_and_front_matter_are_none():
    text = "---\n# title: x\n---\n# Real\n```sh\n# comment\n```\n\n    # indented\n#hashtag\n"
    parsed, _ = chunk_prose(text.encode(), "markdown", words(200))
    assert outline(parsed) == [("Real", 4, 10)]


def test_setext_headings_are_told_from_rules_and_lists():
    text = "Title\n=====\n\nPart *two*\n---\n\n- item\n---\n\ntext\n\n---\n\na | b\n--- | ---\n"
    parsed, _ = chunk_prose(text.encode(), "markdown", words(200))
    assert outline(parsed) == [("Title", 1, 15), ("Title > Part two", 4, 15)]


def test_links_and_closing_marks_are_left_out_of_a_heading():
    parsed, _ = chunk_prose(b"## See [the docs](https://x.org) ##\n", "markdown", words(200))
    assert [(d.symbol, d.signature) for d in parsed.declarations] == [
        ("See the docs", "## See [the docs](https://x.org) ##")
    ]


def test_heading_without_words_is_none_and_one_of_a_picture_is_named_by_its_markup():
    parsed, _ = chunk_prose(b"#\n\ntext\n\n## ![](x.png)\n\nmore\n", "markdown", words(200))
    assert outline(parsed) == [("![](x.png)", 5, 7)]


def test_long_section_is_split_at_paragraphs_and_parts_carry_the_heading():
    text = "# Guide\n\none two three four\n\nfive six seven eight\n\nnine ten eleven twelve\n"
    _, chunks = chunk_prose(text.encode(), "markdown", words(10))
    parts = [c for c in chunks if not c.synthetic]
    assert [(c.part, c.parts, c.signature, c.declaration) for c in parts] == [
        (0, 2, "# Guide", 0),
        (1, 2, "# Guide", 0),
    ]
    assert leaves(chunks) == [
        ("1-4", "", "Guide", "# Guide\n\none two three four\n\n"),
        ("5-7", "", "Guide", "# Guide\nfive six seven eight\n\nnine ten eleven twelve\n"),
    ]


def test_code_block_stays_whole_where_it_fits():
    text = "# Guide\n\none two three\n\n```\na b c\n\nd e f\n```\n\nfour five six\n"
    _, chunks = chunk_prose(text.encode(), "markdown", words(9))
    assert ("5-10", "", "Guide", "# Guide\n```\na b c\n\nd e f\n```\n\n") in leaves(chunks)


def test_very_short_sections_share_a_leaf_of_the_section_around_them():
    text = f"# Changes\n{FILLER}\n## Added\n- one\n## Fixed\n- two\n# Next\n{FILLER}\n"
    _, chunks = chunk_prose(text.encode(), "markdown", words(200))
    merged = next(c for c in chunks if c.span.start_line == 3)
    assert leaves([merged]) == [("3-6", "Changes", "Added / Fixed", "## Added\n- one\n## Fixed\n- two\n")]
    assert (merged.declaration, merged.own) == (0, False)


def test_short_section_takes_in_its_short_subsections():
    _, chunks = chunk_prose(b"# A\n\n## B\nshort\n", "markdown", words(200))
    assert leaves(chunks) == [("1-4", "", "A", "# A\n\n## B\nshort\n")]
    assert (chunks[1].declaration, chunks[1].own) == (0, True)


def test_underlined_headings_of_plain_text_nest_by_first_appearance():
    text = "=====\nTitle\n=====\n\nText.\n\nPart\n----\n\ncode::\n\n    Not\n    ---\n\nMore\n----\n\n----\n"
    parsed, _ = chunk_prose(text.encode(), "text", words(200))
    assert outline(parsed) == [("Title", 1, 18), ("Title > Part", 7, 14), ("Title > More", 15, 18)]


def test_text_without_headings_has_no_outline():
    parsed, chunks = chunk_prose(b"Just a note.\n", "text", words(200))
    assert parsed.declarations == ()
    assert leaves(chunks) == [("1-1", "", "", "Just a note.\n")]
    assert chunk_prose(b"", "text", words(200))[1] == []
