"""Parsing: one sample and one expected outline per language, and what must hold for any source.

`python tests/test_parsing.py` rewrites the outlines; read their diff before you keep it.
"""

import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from codesearch.languages import Language, load_languages
from codesearch.parsing import SPLITTABLE, parse
from codesearch.parsing.facts import compiled, read_tree
from codesearch.types import Kind, ParsedFile

GRAMMARS = Path(__file__).parent / "grammars"
LANGUAGES = load_languages()
CODE_LANGUAGES = [language for language in LANGUAGES if language.chunker == "declarations"]


def outline(parsed: ParsedFile) -> str:
    depths = {-1: -1}
    lines = [f"doc: {parsed.doc.splitlines()[0]}" if parsed.doc else "doc:"]
    for index, declaration in enumerate(parsed.declarations):
        depths[index] = depths[declaration.parent] + 1
        span = declaration.span
        lines.append(
            f"{'  ' * depths[index]}{declaration.kind} {declaration.qualified_name} {span.start_line}-{span.end_line}"
        )
    return "\n".join(lines) + "\n"


def sample_of(language: Language) -> Path:
    return GRAMMARS / "samples" / f"{language.name}{language.extensions[0]}"


def outline_of(language: Language) -> Path:
    return GRAMMARS / "outlines" / f"{language.name}.txt"


def parse_as(name: str, source: str | bytes) -> ParsedFile:
    language = LANGUAGES.get(name)
    assert language
    return parse(source.encode() if isinstance(source, str) else source, language)


def texts(source: str, parsed: ParsedFile) -> dict[str, str]:
    raw = source.encode()
    return {
        each.qualified_name: raw[each.span.start_byte : each.span.end_byte].decode() for each in parsed.declarations
    }


# --- every language ------------------------------------------------------------------------------------------


def test_every_grammar_file_has_a_sample_and_an_outline():
    missing = [
        str(path.relative_to(GRAMMARS))
        for language in CODE_LANGUAGES
        for path in (sample_of(language), outline_of(language))
        if not path.is_file()
    ]
    assert missing == []


@pytest.mark.parametrize("language", CODE_LANGUAGES, ids=lambda language: language.name)
def test_sample_has_the_expected_outline(language):
    parsed = parse(sample_of(language).read_bytes(), language)
    assert outline(parsed) == outline_of(language).read_text("utf-8")
    assert not parsed.has_errors


@pytest.mark.parametrize("language", CODE_LANGUAGES, ids=lambda language: language.name)
def test_spans_nest_and_hold_no_blanks_at_their_ends(language):
    content = sample_of(language).read_bytes()
    declarations = parse(content, language).declarations
    for index, each in enumerate(declarations):
        span = each.span
        text = content[span.start_byte : span.end_byte]
        assert text == text.strip()
        assert span.start_line == content.count(b"\n", 0, span.start_byte) + 1
        assert span.end_line == content.count(b"\n", 0, span.end_byte - 1) + 1
        assert span.start_byte <= each.body_start <= span.end_byte
        if each.parent >= 0:
            outer = declarations[each.parent].span
            assert each.parent < index
            assert outer.start_byte <= span.start_byte < span.end_byte <= outer.end_byte
    for before, behind in pairwise(declarations):
        assert before.span.start_byte <= behind.span.start_byte
        assert behind.span.start_byte >= before.span.end_byte or behind.span.end_byte <= before.span.end_byte


@pytest.mark.parametrize("language", CODE_LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda source: source[: len(source) // 2], id="cut off"),
        pytest.param(lambda source: source.replace(b"{", b"", 2).replace(b":", b"", 2), id="brackets lost"),
        pytest.param(lambda source: b"\x00\xff\xfe" + source, id="bytes that are no text"),
        pytest.param(lambda source: source[::-1], id="reversed"),
        pytest.param(lambda source: source + b"(" * 500_000, id="500,000 brackets"),
        pytest.param(lambda source: b"\x00" * 10_000, id="NUL"),
    ],
)
def test_no_content_makes_parsing_fail(language, damage):
    content = damage(sample_of(language).read_bytes())
    for each in parse(content, language).declarations:
        assert 0 <= each.span.start_byte < each.span.end_byte <= len(content)


@pytest.mark.parametrize("language", CODE_LANGUAGES, ids=lambda language: language.name)
def test_crlf_changes_neither_declarations_nor_lines(language):
    content = sample_of(language).read_bytes()
    assert outline(parse(content.replace(b"\n", b"\r\n"), language)) == outline(parse(content, language))


@pytest.mark.parametrize("language", CODE_LANGUAGES, ids=lambda language: language.name)
def test_byte_order_mark_changes_no_declaration(language):
    content = b"\xef\xbb\xbf" + sample_of(language).read_bytes()
    plain = outline_of(language).read_text("utf-8").partition("\n")[2]
    assert outline(parse(content, language)).partition("\n")[2] == plain


# --- spans ---------------------------------------------------------------------------------------------------


def test_doc_comment_belongs_to_a_declaration_only_without_a_blank_line():
    source = "// far\n\n// near\n// nearer\nfunc a() {}\n\nvar x = 1 // beside\nfunc b() {}\n"
    parsed = parse_as("go", "package p\n" + source)
    assert texts("package p\n" + source, parsed) == {
        "a": "// near\n// nearer\nfunc a() {}",
        "x": "var x = 1",
        "b": "func b() {}",
    }
    assert [each.doc for each in parsed.declarations] == ["near\nnearer", "", ""]


def test_comments_indented_inside_a_python_function_belong_to_it():
    source = (
        "def a():\n    return 1  # why\n\n    # inside a\n# outside\n\n"
        "class B:\n    def c(self):\n        pass\n        # inside c\n    # inside B\n    def d(self): ...\n"
    )
    assert texts(source, parse_as("python", source)) == {
        "a": "def a():\n    return 1  # why\n\n    # inside a",
        "B": source[source.index("class B") :].rstrip(),
        "B.c": "def c(self):\n        pass\n        # inside c",
        "B.d": "# inside B\n    def d(self): ...",
    }


def test_decorators_attributes_and_export_belong_to_a_declaration():
    source = "// Doc.\n@sealed\nexport class A {\n  @log() @twice\n  run() {}\n}\n"
    parsed = parse_as("typescript", source)
    assert texts(source, parsed) == {"A": source.rstrip(), "A.run": "@log() @twice\n  run() {}"}
    assert [each.signature for each in parsed.declarations] == ["export class A", "run()"]
    assert parsed.declarations[0].doc == "Doc."


def test_semicolon_belongs_to_what_it_ends():
    source = "export const f = () => 1;\nconst a = 1, b = 2;\nclass C {\n  d = 3;\n};\n"
    assert texts(source, parse_as("javascript", source)) == {
        "f": "export const f = () => 1;",
        "a": "const a = 1",
        "b": "b = 2;",
        "C": "class C {\n  d = 3;\n};",
        "C.d": "d = 3;",
    }


def test_signature_and_body_start():
    source = '@dec\ndef f(\n    a: int,  # first\n    b: str = "x",\n) -> None:\n    """Doc."""\n    return a\n'
    (declaration,) = parse_as("python", source).declarations
    assert declaration.signature == 'def f( a: int, b: str = "x", ) -> None:'
    assert source[declaration.body_start :] == '"""Doc."""\n    return a\n'
    assert declaration.doc == "Doc."


def test_declaration_without_a_body_has_its_body_start_at_its_end():
    (declaration,) = parse_as("python", "LIMIT = 3\n").declarations
    assert (declaration.body_start, declaration.span.end_byte) == (9, 9)


def test_one_declaration_for_several_names_of_one_statement():
    parsed = parse_as("python", "a, b = 1, 2\nc = d = 3\n")
    assert [each.symbol for each in parsed.declarations] == ["a, b", "c, d"]


def test_open_ended_declaration_reaches_to_the_comments_of_the_next_one_or_to_the_end_of_the_file():
    source = "using X;\n\nnamespace A.B;\n\nclass C { void M() { } }\n\n// Second.\nnamespace D;\nclass E { }\n// end\n"
    parsed = parse_as("csharp", source)
    found = texts(source, parsed)
    assert list(found) == ["A.B", "A.B.C", "A.B.C.M", "D", "D.E"]
    assert found["A.B"] == "namespace A.B;\n\nclass C { void M() { } }"
    assert found["D"] == "// Second.\nnamespace D;\nclass E { }\n// end"
    assert [each.signature for each in parsed.declarations][:2] == ["namespace A.B", "class C"]


def test_end_marker_belongs_to_what_it_ends():
    source = "object O:\n  def f =\n    if x then\n      1\n    end if\n  end f\n\n  def g = 2\nend O\nclass P\n"
    found = texts(source, parse_as("scala", source))
    assert found["O"] == source.removesuffix("\nclass P\n")
    assert found["O.f"].endswith("end if\n  end f")
    assert found["O.g"] == "def g = 2"


# --- kinds and names -----------------------------------------------------------------------------------------


def test_local_variables_are_no_declarations_but_local_functions_are():
    source = "const a = 1;\nfunction f() { const b = 2; const g = () => 3; [].map((x) => { let c = x; }); }\n"
    assert list(texts(source, parse_as("javascript", source))) == ["a", "f", "f.g"]


def test_anonymous_default_export_is_named_default():
    for source in ("export default function () {}", "export default () => 1", "export default class {}"):
        (declaration,) = parse_as("typescript", source).declarations
        assert declaration.symbol == "default"


def test_go_method_is_qualified_by_its_receiver():
    source = "package p\nfunc (s *Server[T]) Handle(r Request) {}\nfunc (s Server) Close() {}\n"
    parsed = parse_as("go", source)
    assert [(each.kind, each.symbol, each.qualified_name) for each in parsed.declarations] == [
        (Kind.METHOD, "Handle", "Server.Handle"),
        (Kind.METHOD, "Close", "Server.Close"),
    ]


def test_declarations_around_a_syntax_error_are_kept():
    source = "def a():\n    return 1\n\ndef b(:\n    ???\n\ndef c():\n    return 3\n"
    parsed = parse_as("python", source)
    assert parsed.has_errors
    assert {"a", "c"} <= {each.symbol for each in parsed.declarations}


def test_file_doc_is_no_licence_and_no_declarations_comment():
    source = "// Copyright 2020 A. All rights reserved.\n\n// Package p does it.\npackage p\n"
    assert parse_as("go", source).doc == "Package p does it."
    assert parse_as("go", "// Copyright 2020.\npackage p\n\n// F is one.\nfunc F() {}\n").doc == ""
    assert parse_as("python", '#!/usr/bin/python\n# -*- coding: utf-8 -*-\n"""Says hello."""\n').doc == "Says hello."
    assert parse_as("python", "# Says hello.\n\nimport os\n").doc == "Says hello."


def test_name_may_have_a_fixed_beginning_and_loses_the_quotes_around_it():
    source = "class A { public static A operator +(A a, A b) => a; static explicit operator int(A a) => 1; ~A() { } }"
    assert list(texts(source, parse_as("csharp", source)))[1:] == ["A.operator +", "A.operator int", "A.~A"]
    source = 'class T extends Suite { test("adds \'two\'") { 1 }; test("""x""") { 1 }; def `a b` = 1; def c = "d" }'
    assert list(texts(source, parse_as("scala", source)))[1:] == ["T.adds 'two'", "T.x", "T.a b", "T.c"]


def test_doc_in_xml_reads_as_text():
    source = (
        '/// <summary>\n/// Sends <see cref="T:A.Letter"/> &lt;once&gt;,\n///\n'
        "/// or <c>twice</c> if <paramref name='again' />.\n/// </summary>\n"
        '/// <param name="again">Whether.</param>\n/// <returns a <b or x < y</returns>\nclass A { }\n'
    )
    doc = parse_as("csharp", source).declarations[0].doc
    assert doc == "Sends A.Letter <once>,\nor twice if again.\nWhether.\n<returns a <b or x < y"


# --- clauses ---------------------------------------------------------------------------------------------------


def test_clauses_of_one_name_and_number_of_parameters_are_one_declaration():
    source = (
        'defmodule M do\n  @doc "Adds."\n  def add(a, b \\\\ 1)\n\n'
        "  @spec add(0, term) :: term\n  # Nothing to add.\n\n"
        "  def add(0, b), do: b\n\n  def add(a, b) do\n    a + b\n  end\n\n"
        "  def add(a), do: a\n  def other, do: 1\n  def add(a), do: a\nend\n"
    )
    _, *found = parse_as("elixir", source).declarations
    assert [(each.symbol, each.span.start_line, each.span.end_line) for each in found] == [
        ("add", 2, 12),
        ("add", 14, 14),
        ("other", 15, 15),
        ("add", 16, 16),
    ]
    add = found[0]
    assert (add.signature, add.doc) == ("def add(a, b \\\\ 1)", "Adds.")
    assert source.encode()[add.body_start :].startswith(b"@spec add(0, term)")


def test_signature_and_equations_are_one_function_but_not_over_a_condition():
    source = (
        "-- | Doc.\nf :: Int -> Int\n{-# INLINE f #-}\nf 0 = 1\n-- Others.\n\nf n = n\n"
        "#if A\ng x = 1\n#else\ng x = 2\n#endif\n"
    )
    parsed = parse_as("haskell", source)
    assert [(each.symbol, each.span.start_line, each.span.end_line) for each in parsed.declarations] == [
        ("f", 1, 7),
        ("g", 9, 9),
        ("g", 11, 11),
    ]
    assert (parsed.declarations[0].signature, parsed.declarations[0].doc) == ("f :: Int -> Int", "Doc.")


def test_comment_that_says_so_belongs_to_what_stands_before_it():
    source = (
        "data A\n  = B -- ^ First.\n  | C\n  -- ^ Second.\n\n"
        "a :: Int\n-- ^ Third.\n\nb = 1\n{-# NOINLINE b #-}\nc = 2\n"
    )
    parsed = parse_as("haskell", source)
    assert [(each.symbol, each.doc, each.span.end_line) for each in parsed.declarations] == [
        ("A", "", 4),
        ("B", "First.", 2),
        ("C", "Second.", 4),
        ("a", "Third.", 7),
        ("b", "", 10),
        ("c", "", 11),
    ]


def test_docstring_in_an_attribute_counts_before_the_comment_above():
    source = (
        'defmodule M do\n  # Why.\n  @doc """\n  What.\n  """\n  @impl true\n  def f, do: 1\n\n'
        "  # Plain.\n  def g, do: 2\nend\n"
    )
    assert [(each.symbol, each.doc) for each in parse_as("elixir", source).declarations] == [
        ("M", ""),
        ("f", "What."),
        ("g", "Plain."),
    ]


def test_first_line_that_names_the_program_is_no_doc():
    source = "#!/usr/bin/python\n# Says hello.\ndef f(): pass\n"
    assert parse_as("python", source).declarations[0].doc == "Says hello."
    assert parse_as("python", "#!/usr/bin/python\n# Says hello.\n\nimport os\n").doc == "Says hello."
    assert parse_as("python", "#!/usr/bin/python").declarations == ()


def test_file_doc_stands_behind_what_opens_the_file():
    opening = "#!/usr/bin/php\n<?php\n\ndeclare(strict_types=1);\n\n"
    source = "// Copyright 2020.\n\n/** Says hello. */\n\nnamespace A;\n"
    assert parse_as("php", opening + source).doc == "Says hello."
    assert parse_as("php", "<?php\n/** Of f. */\nfunction f() {}\n").doc == ""
    assert parse_as("php", "<?php\n/** Says hello. */\nnamespace A;\n").doc == "Says hello."
    assert parse_as("php", "<?php\n// Copyright 2020.\nnamespace A;\n").doc == ""


def test_signature_of_an_open_ended_declaration_ends_where_its_own_source_does():
    source = "<?php\nnamespace A\\B;\nclass C {}\n// about D\nnamespace D;\nclass E {}\n"
    parsed = parse_as("php", source)
    assert [(each.signature, each.span.start_line, each.span.end_line) for each in parsed.declarations] == [
        ("namespace A\\B", 2, 3),
        ("class C", 3, 3),
        ("namespace D", 4, 6),
        ("class E", 6, 6),
    ]


def test_bytes_that_are_no_utf8_cost_nothing_but_their_letters():
    latin = '// Größe\npub fn größe<T>() {}\ncfg! { fn straße<T>() {} }\nconst A: &str = "ä";\n'.encode("latin-1")
    parsed = parse_as("rust", latin)
    assert [each.symbol for each in parsed.declarations] == ["gr\ufffd\ufffde", "stra\ufffde", "A"]
    for name, source in (("python", b"A = '\xff'\n\xe4B = 1\n"), ("go", b'package p\nvar a = "\xff"\n')):
        assert parse_as(name, source).declarations[0].span.start_line == source.count(b"package") + 1


def test_wrapper_that_holds_another_declaration_in_broken_code_is_not_cited_as_one():
    source = "export const A = 'a'export const B = 'b'export interface C { d: string }\n"
    parsed = parse_as("typescript", source)
    assert [each.symbol for each in parsed.declarations] == ["A", "C"]
    assert parsed.declarations[0].span.end_byte <= parsed.declarations[1].span.start_byte


def test_parser_that_goes_round_in_circles_is_stopped():
    source = (
        "e<Mu/at'onState<MyData>>(\n () => ({\n filters: ) mutationKey: ['key'] },\n sel/ct: (mutati;n) => {\n \n "
        'e"pectType(f(mut`tion).toEqualTyp { id: nu]ber }\n\n const result =<useM<tationState<MutationSta*e<MyDa;a, '
        "MyError, MyVars>>(\n () => ({\n "
        "fil\ners: ) mutationKey: ['key'] },\n sel/ct: (mutati;n) =< {\n \n e\"pectType(f(\\"
    )
    assert parse_as("tsx", source) == ParsedFile("tsx", (), has_errors=True)
    assert [each.symbol for each in parse_as("tsx", "const a = 1;\n").declarations] == ["a"]


@pytest.mark.parametrize(
    ("name", "opener"),
    [("lua", 'if a and info:find("[1?]") then'), ("zig", "if (a) |b| {\n")],
    ids=["reads to the end again and again", "takes steps without end"],
)
def test_parser_that_does_too_much_is_stopped(name, opener):
    language = LANGUAGES.get(name)
    assert language
    parser = compiled(language)[1]
    assert read_tree(parser, opener.encode() * 50) is not None
    assert read_tree(parser, opener.encode() * 3000) is None
    assert parse_as(name, opener * 3000) == ParsedFile(name, (), has_errors=True)
    assert parse_as(name, sample_of(language).read_bytes()).declarations


def test_query_over_deep_nesting_is_bounded():
    source = 'test "preload" do\n' * 600 + "end\n" * 600 + "defmodule Last do\n  def one(a), do: a\nend\n"
    parsed = parse_as("elixir", source)
    assert [each.symbol for each in parsed.declarations[-2:]] == ["Last", "one"]


def test_overloads_and_their_implementation_are_one_function():
    source = (
        "/** Opens. */\nfunction open(a: string): A;\n// Many.\nfunction open(a: string[]): B;\n"
        "function open(a: any) {\n  return a;\n}\nfunction shut() {}\nfunction shut() {}\n"
        "class C { get x() { return 1; } set x(v) {} y(): void; y(a?: any) {} }\n"
    )
    parsed = parse_as("typescript", source)
    assert [(each.qualified_name, each.span.start_line, each.span.end_line) for each in parsed.declarations] == [
        ("open", 1, 7), ("shut", 8, 8), ("shut", 9, 9),
        ("C", 10, 10), ("C.x", 10, 10), ("C.x", 10, 10), ("C.y", 10, 10),
    ]  # fmt: skip
    first = parsed.declarations[0]
    assert first.doc == "Opens."
    assert first.signature == ("function open(a: string): A; function open(a: string[]): B; function open(a: any)")
    assert source.encode()[first.body_start :].startswith(b"{\n  return a;")


def test_title_of_a_test_is_its_name():
    source = "describe('a depot', () => {\n  it(`stores ${n} \"things\"`, () => {});\n  log('x', () => {});\n});\n"
    parsed = parse_as("javascript", source)
    assert [(each.kind, each.qualified_name) for each in parsed.declarations] == [
        (Kind.NAMESPACE, "a depot"),
        (Kind.TEST, 'a depot.stores ${n} "things"'),
    ]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("elixir", 'defmodule ATest do\n  describe "a" do\n    test "b" do\n      1\n    end\n  end\nend\n'),
        ("javascript", 'describe("a", () => { it("b", () => {}) })'),
        ("kotlin", 'class A : Spec({\n  describe("a") {\n    it("b") { 1 }\n  }\n})\n'),
        ("lua", 'describe("a", function() it("b", function() end) end)'),
        ("php", '<?php describe("a", function () { it("b", function () {}); });'),
        ("ruby", 'describe "a" do\n  it "b" do\n    1\n  end\nend\n'),
        ("scala", 'class A extends Spec { describe("a") { it("b") { 1 } } }'),
        ("typescript", 'test.describe("a", () => { test.only("b", async () => {}) })'),
    ],
)
def test_group_of_tests_is_a_namespace_in_every_language(language, source):
    found = [each for each in parse_as(language, source).declarations if each.symbol in ("a", "b")]
    assert [(each.kind, each.symbol) for each in found] == [(Kind.NAMESPACE, "a"), (Kind.TEST, "b")]


@pytest.mark.parametrize(
    ("language", "head", "attribute", "tail"),
    [
        ("csharp", "class A {\n", "[X]\n", "[Fact] void F() { }\n}\n"),
        ("csharp", "class A {\n[Fact", ", X", "] void F() { }\n}\n"),
        ("java", "class A {\n", "@X\n", "@Test void f() { }\n}\n"),
        ("kotlin", "class A {\n", "@X\n", "@Test fun f() { }\n}\n"),
        ("php", "<?php\nclass A {\n", "#[X]\n", "#[Test] function f() { }\n}\n"),
        ("php", "<?php\nclass A {\n#[Test", ", X", "]\nfunction f() { }\n}\n"),
        ("python", "", "@x\n", "def test_f(): pass\n"),
        ("rust", "", "#[x]\n", "#[test]\nfn f() {}\n"),
        ("scala", "class A {\n", "@X ", "@Test def f() = 1\n}\n"),
        ("swift", "class A {\n", "@X\n", "@Test func f() { }\n}\n"),
        ("typescript", "class A {\n", "@x\n", "f() { }\n}\n"),
    ],
)
def test_a_thousand_attributes_cost_little(language, head, attribute, tail):
    parse_as(language, head + tail)
    started = time.process_time()
    parsed = parse_as(language, head + 1000 * attribute + tail)
    assert time.process_time() - started < 1  # about 0.05 s; with a pattern that tries every pair, 8 s
    assert parsed.declarations[-1].symbol.lower().endswith("f")


def test_each_of_a_group_begins_at_its_name():
    source = "package p\n\nconst (\n\tA = 1\n\tB = 2\n)\ntype (\n\tS struct{}\n)\nconst C = 3\n"
    assert texts(source, parse_as("go", source)) == {"A": "A = 1", "B": "B = 2", "S": "S struct{}", "C": "const C = 3"}


# --- source inside macro calls -----------------------------------------------------------------------------------


def test_items_inside_macro_calls_are_cited_with_their_docs_and_nest_as_if_the_call_were_not_there():
    source = (
        "cfg_a! {\n    /// Doc.\n    #[inline]\n    pub fn f<T>(x: T) -> T { x }\n"
        "    cfg_b! { struct U; }\n}\nimpl S {\n    cfg_c! { fn m<T>(&self, x: T) {} }\n}\n"
    )
    parsed = parse_as("rust", source)
    assert texts(source, parsed) == {
        "f": "/// Doc.\n    #[inline]\n    pub fn f<T>(x: T) -> T { x }",
        "U": "struct U;",
        "S": "impl S {\n    cfg_c! { fn m<T>(&self, x: T) {} }\n}",
        "S::m": "fn m<T>(&self, x: T) {}",
    }
    assert [(each.kind, each.symbol, each.signature, each.doc) for each in parsed.declarations] == [
        (Kind.FUNCTION, "f", "pub fn f<T>(x: T) -> T", "Doc."),
        (Kind.STRUCT, "U", "struct U", ""),
        (Kind.IMPL, "S", "impl S", ""),
        (Kind.METHOD, "m", "fn m<T>(&self, x: T)", ""),
    ]


def test_macro_call_that_is_no_source_keeps_its_plain_functions_and_is_no_error():
    source = "check! { fn plain(x in 0..9) { g(x) } fn bent<T>(x in 0..9) {} struct }\nfn after() {}\n"
    parsed = parse_as("rust", source)
    assert texts(source, parsed) == {"plain": "fn plain(x in 0..9) { g(x) }", "after": "fn after() {}"}
    assert not parsed.has_errors


def test_macro_calls_inside_one_another_are_read_to_the_fourth_level():
    source = "a! { fn a<T>() {} " * 6 + "}" * 6
    assert len(parse_as("rust", source).declarations) == 4


def test_borders_inside_a_macro_call_are_those_of_the_function():
    function = f'fn f<T>() {{\n    a("{"x" * SPLITTABLE}");\n    if b {{\n        c();\n    }}\n    d()\n}}\n'
    (plain,) = parse_as("rust", function).declarations
    (inside,) = parse_as("rust", "cfg! {" + function + "}").declarations
    assert [depth for _, depth in plain.borders] == [0, 0, 1, 0]
    assert inside.borders == tuple((byte + len("cfg! {"), depth) for byte, depth in plain.borders)


def test_ten_thousand_macro_calls_cost_seconds():
    source = "a! { fn b<T>() {} }\n" * 10_000 + "m! {" + ": " * 100_000 + "}"
    started = time.process_time()
    assert len(parse_as("rust", source).declarations) == 10_000
    assert time.process_time() - started < 12  # about 1 s


# --- what the parser does not see ---------------------------------------------------------------------------------


def test_both_declarations_of_a_choice_are_found_and_one_of_two_that_share_an_end():
    source = (
        "#if A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n"
        "#if A\nint g(int x) {\n#define IN_A 1\n#else\nint g(void) {\n#define IN_B 1\n#endif\n  return 1;\n}\n"
        "#if 0\nint dead(void) {\n#endif\nint after;\n"
    )
    parsed = parse_as("c", source)
    assert [each.symbol for each in parsed.declarations] == ["f", "f", "g", "IN_A", "IN_B", "after"]
    assert parsed.declarations[2].signature == "int g(int x)"


def test_attribute_macros_are_cited_but_are_no_part_of_the_signature():
    source = "/* Doc. */\nLIB_API const char *name(int x LIB_UNUSED);\n__attribute__((cold)) int f(void) LIB_PURE;\n"
    parsed = parse_as("c", source)
    assert texts(source, parsed) == {
        "name": source.partition("\n__")[0],
        "f": "__attribute__((cold)) int f(void) LIB_PURE;",
    }
    assert [(each.signature, each.doc) for each in parsed.declarations] == [
        ("const char *name(int x LIB_UNUSED)", "Doc."),
        ("int f(void) LIB_PURE", ""),
    ]


def test_macros_in_a_definition_of_a_macro_are_left_alone():
    source = "#define A(x) \\\n  B(x)\n#define C(x) __attribute__((x))\n#define D(x)\nint after;\n"
    assert [each.symbol for each in parse_as("c", source).declarations] == ["A", "C", "D", "after"]


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(
    "unit", ["AAA(", "AAA(x", "#if 1\n", "#else\n", "AAA ", "* a ", ") AAA(", "a<", "__attribute__(("]
)
def test_masking_never_searches_endlessly(language, unit):
    started = time.process_time()
    parse_as(language, unit * (20_000 // len(unit)))
    assert time.process_time() - started < 12  # an endless search in a pattern takes minutes


# --- borders -------------------------------------------------------------------------------------------------


def test_short_declarations_have_no_borders():
    assert parse_as("python", "def f():\n    a()\n    b()\n").declarations[0].borders == ()


def test_borders_are_the_statements_with_their_nesting():
    padding = "x" * SPLITTABLE
    source = (
        f'def f():\n    a("{padding}")\n    # about the loop\n    for i in range(3):\n        b(i)\n'
        "        if i:\n            c(i)\n    return 1\n"
    )
    (declaration,) = parse_as("python", source).declarations
    assert [(source[byte:].partition("\n")[0][:16], depth) for byte, depth in declaration.borders] == [
        ('a("xxxxxxxxxxxxx', 0),
        ("# about the loop", 0),
        ("b(i)", 1),
        ("if i:", 1),
        ("c(i)", 2),
        ("return 1", 0),
    ]


def test_borders_of_a_class_are_its_members_alone():
    body = "".join(f"    def m{i}(self):\n        return {i} * 1_000_000\n" for i in range(40))
    declarations = parse_as("python", f"class C:\n{body}").declarations
    assert [depth for _, depth in declarations[0].borders] == [0] * 40
    assert [byte for byte, _ in declarations[0].borders] == [each.span.start_byte for each in declarations[1:]]


# --- size ----------------------------------------------------------------------------------------------------


def test_empty_file_has_no_declarations():
    assert parse_as("python", b"") == ParsedFile(language="python", declarations=())


def test_2000_nested_functions_and_blocks():
    nested = "".join(f"{' ' * i}def f{i}():\n" for i in range(2000)) + " " * 2000 + "pass\n"
    parsed = parse_as("python", nested)
    assert len(parsed.declarations) > 400  # the grammar's own stack of indentations is finite
    source = "function f() {" * 2000 + "}" * 2000
    assert len(parse_as("javascript", source).declarations) == 2000


def test_thirty_thousand_declarations_cost_seconds():
    source = "".join(f"# {i}\ndef f{i}(): pass\n" for i in range(30_000))
    started = time.process_time()
    parsed = parse_as("python", source)
    assert len(parsed.declarations) == 30_000
    assert time.process_time() - started < 12  # about 1.5 s; a quadratic walk takes minutes


def test_a_megabyte_in_one_line():
    source = b"var x = [" + b'"abc",' * 200_000 + b"];function f(){}"
    parsed = parse_as("javascript", source)
    assert [each.symbol for each in parsed.declarations] == ["x", "f"]
    assert max(len(each.signature) for each in parsed.declarations) <= 400


def rewrite_outlines() -> None:
    for language in CODE_LANGUAGES:
        outline_of(language).write_text(outline(parse(sample_of(language).read_bytes(), language)), "utf-8")


if __name__ == "__main__":
    sys.exit(rewrite_outlines())
