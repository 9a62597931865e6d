"""Which language a file is, and what a wrong grammar file says."""

import re
import subprocess
import sys

import pytest

from codesearch.errors import GrammarError
from codesearch.languages import load_languages
from codesearch.parsing import parse
from codesearch.parsing.masking import masked
from codesearch.types import Kind

LANGUAGES = load_languages()

INI = """
name = "ini"
grammar = "ini"
extensions = [".ini"]
query = '''
(section (section_name (text) @name)) @module
'''
"""


def name_of(path, head=b""):
    language = LANGUAGES.for_path(path, head)
    return language.name if language else None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", "python"),
        ("src/app.pyi", "python"),
        ("web/app.jsx", "javascript"),
        ("web/app.mjs", "javascript"),
        ("web/types.d.ts", "typescript"),
        ("web/app.cts", "typescript"),
        ("web/App.tsx", "tsx"),
        ("cmd/main.go", "go"),
        ("src/lib.rs", "rust"),
        ("Main.java", "java"),
        ("src/Depot.cs", "csharp"),
        ("build.cake", "csharp"),
        ("src/Depot.scala", "scala"),
        ("build.sbt", "scala"),
        ("lib/app.rb", "ruby"),
        ("lib/tasks/db.rake", "ruby"),
        ("app.gemspec", "ruby"),
        ("config.ru", "ruby"),
        ("Rakefile", "ruby"),
        ("sub/Gemfile", "ruby"),
        ("Gemfile.lock", None),
        ("src/App.php", "php"),
        ("views/index.phtml", "php"),
        ("lua/depot/init.lua", "lua"),
        ("depot-1.0-1.rockspec", "lua"),
        (".luacheckrc", "lua"),
        ("bin/depot.sh", "bash"),
        ("test/depot.bats", "bash"),
        ("home/.bashrc", "bash"),
        ("depot.plugin.zsh", "zsh"),
        ("agnostic.zsh-theme", "zsh"),
        (".zshrc", "zsh"),
        ("src/main.zig", "zig"),
        ("build.zig.zon", "zig"),
        ("UPPER.PY", "python"),
        ("docs/guide.md", "markdown"),
        ("docs/guide.rst", "text"),
        ("LICENSE", "text"),
        ("sub/README", "text"),
        ("Makefile.unknown", None),
        ("no_extension", None),
        (".gitignore", None),
    ],
)
def test_language_of_a_path(path, expected):
    assert name_of(path) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"#!/usr/bin/python3.11\nimport os", "python"),
        (b"#!/usr/bin/env -S FOO=1 python3 -u\n", "python"),
        (b"#! /usr/bin/env node\r\n", "javascript"),
        (b"#!/usr/bin/env ruby2.7\n", "ruby"),
        (b"#!/usr/bin/env -S php -d memory_limit=1G\n<?php\n", "php"),
        (b"#!/bin/sh -e\n", "bash"),
        (b"#!/usr/bin/env zsh\n", "zsh"),
        (b"#!/usr/bin/env lua5.4\n", "lua"),
        (b"#!/opt/unknown\n", None),
        (b"#!\n", None),
        (b"import os\n", None),
    ],
)
def test_language_of_a_script_by_its_first_line(head, expected):
    assert name_of("bin/tool", head) == expected


def test_extension_wins_over_the_first_line():
    assert name_of("tool.go", b"#!/usr/bin/env python\n") == "go"


def test_bundled_extensions_are_claimed_once():
    # Languages that look at the contents may share an extension with one that does not.
    plain = [language for language in LANGUAGES if not language.contents]
    claims = [extension for language in plain for extension in (*language.extensions, *language.filenames)]
    assert sorted(claims) == sorted(set(claims))


def test_kinds_of_a_language_are_those_that_its_query_can_give():
    python = LANGUAGES.get("python")
    assert python.kinds == (Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.TYPE, Kind.CONSTANT, Kind.VARIABLE)
    assert LANGUAGES.get("markdown").kinds == (Kind.SECTION,)


def test_loading_imports_no_parser():
    code = (
        "import sys; from codesearch.languages import load_languages; load_languages();"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_users_grammar_file_adds_a_language(tmp_path):
    (tmp_path / "ini.toml").write_text(INI)
    languages = load_languages(tmp_path)
    language = languages.for_path("setup.ini")
    parsed = parse(b"[server]\nport = 1\n[client]\n", language)
    assert [(each.kind, each.symbol, each.span.start_line) for each in parsed.declarations] == [
        (Kind.MODULE, "server", 1),
        (Kind.MODULE, "client", 3),
    ]
    assert languages.get("python") == LANGUAGES.get("python")
    assert LANGUAGES.get("ini") is None


def test_users_grammar_file_wins_over_the_bundled_one(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(INI.replace('".ini"', '".py"'))
    assert load_languages(file).for_path("a.py").name == "ini"


def test_users_grammar_file_extends_a_bundled_language(tmp_path):
    (tmp_path / "bzl.toml").write_text('name = "bzl"\nextends = "python"\nextensions = [".bzl"]\n')
    language = load_languages(tmp_path).for_path("rules.bzl")
    assert [each.symbol for each in parse(b"def rule(): pass\n", language).declarations] == ["rule"]


def test_masks_are_blanks_for_the_parser_alone(tmp_path):
    content = b"[a]\r\n  %if x\r\nk = 1\r\n[b]\r\n%end\r\n"
    (tmp_path / "ini.toml").write_text(INI)
    assert parse(content, load_languages(tmp_path).for_path("setup.ini")).has_errors
    (tmp_path / "ini.toml").write_text(INI.replace("query", "masks = ['^[ \\t]*%(?:if|end)[^\\r\\n]*']\nquery", 1))
    parsed = parse(content, load_languages(tmp_path).for_path("setup.ini"))
    assert not parsed.has_errors
    assert [content[each.span.start_byte : each.span.end_byte] for each in parsed.declarations] == [
        b"[a]\r\n  %if x\r\nk = 1",
        b"[b]",
    ]


def test_masks_show_the_parser_another_text_and_leave_names_and_places(tmp_path):
    file = tmp_path / "ini.toml"
    file.write_text("masks = [['^<(?=.*>$)', '['], ['^.a.*(>)$', ']'], ['^#.*', ' .']]\n" + INI)
    language = load_languages(file).get("ini")
    content = b"<a b>\nport = <1>\n# x\n"
    assert masked(content, language.syntax) == (b"[a b]\nport = <1>\n . \n", [])
    parsed = parse(b"[c]\n" + content[:-4], language)
    assert [(each.symbol, each.signature) for each in parsed.declarations] == [
        ("c", "[c]"),
        ("a b", "<a b> port = <1>"),
    ]


def test_masks_and_conditionals_see_a_first_line_behind_a_byte_order_mark():
    mark = b"\xef\xbb\xbf"
    parsed = parse(mark + b"#if A\nint f(void) {\n#else\nint f() {\n#endif\n}\n", LANGUAGES.get("c"))
    assert ([each.symbol for each in parsed.declarations], parsed.has_errors) == (["f"], False)


def test_separator_of_a_capture_stands_before_its_symbols(tmp_path):
    (tmp_path / "py.toml").write_text(
        'name = "py"\nextends = "python"\nextensions = [".py"]\n[separators]\nfunction = "#"\n'
    )
    parsed = parse(b"def f(): pass\nclass A:\n  class B:\n    def m(): pass\n", load_languages(tmp_path).get("py"))
    assert [each.qualified_name for each in parsed.declarations] == ["f", "A", "A.B", "A.B#m"]


def test_comments_for_programs_are_no_docs_and_belong_to_no_declaration_below(tmp_path):
    (tmp_path / "py.toml").write_text(
        'name = "py"\nextends = "python"\nextensions = [".py"]\npragmas = "# *(lint|typed):"\n'
    )
    source = b"# typed: yes\n# About it.\n\n# lint: off\ndef f(): pass\n\n# Doc.\n# lint: off\ndef g(): pass\n"
    parsed = parse(source, load_languages(tmp_path).get("py"))
    assert parsed.doc == "About it."
    assert [(each.span.start_line, each.doc) for each in parsed.declarations] == [(5, ""), (7, "Doc.")]


def test_version_changes_with_the_file_and_with_what_it_extends(tmp_path):
    file = tmp_path / "ini.toml"
    file.write_text(INI)
    before = load_languages(file).get("ini").version
    assert load_languages(file).get("ini").version == before
    file.write_text(INI + "\n# changed\n")
    assert load_languages(file).get("ini").version != before


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (('name = "ini"', ""), "key 'name': missing", 'Add name = "…".'),
        (('"ini"\nextensions', '"ini_"\nextensions'), "key 'grammar': 'ini_' is not a bundled grammar", None),
        (('"ini"\nextensions', '"os.path"\nextensions'), "key 'grammar': 'os.path' is not a bundled grammar", None),
        (('"ini"\nextensions', '"../ini"\nextensions'), "key 'grammar': '../ini' is not a bundled grammar", None),
        (('[".ini"]', '["ini"]'), "key 'extensions': 'ini' has no leading dot", "Write '.ini'."),
        (('[".ini"]', "[]"), "key 'extensions': no file would be of this language", None),
        (('[".ini"]', '".ini"'), "key 'extensions': not a list of texts", None),
        (("@module", "@chapter"), "key 'kinds.chapter': the query's capture @chapter has no kind", None),
        (("extensions", "colour = 1\nextensions"), "key 'colour': unknown key", None),
        (("extensions", 'chunker = "lines"\nextensions'), "key 'chunker': 'lines' is not a choice", None),
        (("extensions", 'merge = ["clause"]\nextensions'), "key 'merge': 'clause' is no kind", None),
        (("extensions", 'skip_locals = ["x"]\nextensions'), "key 'skip_locals': the query has no capture @x", None),
        (("extensions", 'open_ended = ["x"]\nextensions'), "key 'open_ended': the query has no capture @x", None),
        (("query", 'separators = {x = "#"}\nquery'), "key 'separators': the query has no capture @x", None),
        (("query", "separators = {module = 1}\nquery"), "key 'separators.module': not a text", None),
        (
            ("extensions", "pragmas = '('\nextensions"),
            "key 'pragmas': no regular expression: missing ), unterminated subpattern at position 0",
            None,
        ),
        (("extensions", 'doc_markup = "tex"\nextensions'), "key 'doc_markup': 'tex' is not a choice", None),
        (("extensions", 'extends = "none"\nextensions'), "key 'extends': there is no language 'none'", None),
        (("extensions", "indented = 1\nextensions"), "key 'indented': not true or false", None),
        (("extensions", "masks = 1\nextensions"), "key 'masks': not a list", None),
        (
            ("extensions", "masks = [['a']]\nextensions"),
            "key 'masks': ['a'] is neither a text nor a pair of texts",
            None,
        ),
    ],
)
def test_wrong_grammar_file_names_file_key_and_fix(tmp_path, change, message, hint):
    file = tmp_path / "broken.toml"
    file.write_text(INI.replace(*change, 1))
    with pytest.raises(GrammarError) as caught:
        load_languages(file)
    assert caught.value.message == f"{file}: {message}."
    assert caught.value.hint
    if hint:
        assert caught.value.hint == hint


def test_query_that_the_grammar_refuses_names_file_and_key(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text(INI.replace("section_name", "chapter_name"))
    language = load_languages(file).get("ini")
    with pytest.raises(GrammarError, match=r"broken\.toml: key 'query': .*chapter_name"):
        parse(b"[a]\n", language)


def test_strip_removes_from_a_name_what_it_matches(tmp_path):
    file = tmp_path / "ini.toml"
    file.write_text(INI.replace(") @module", '(#set! strip "^\\"|\\"$")) @module'))
    language = load_languages(file).get("ini")
    assert [each.symbol for each in parse(b'["server"]\nport = 1\n[client]\n', language).declarations] == [
        "server",
        "client",
    ]
    file.write_text(INI.replace(") @module", '(#set! strip "(")) @module'))
    with pytest.raises(GrammarError, match=r"ini\.toml: key 'query': #set! strip is no regular expression: "):
        parse(b"[a]\n", load_languages(file).get("ini"))


def test_unreadable_and_malformed_files_are_named(tmp_path):
    with pytest.raises(GrammarError, match=r"gone\.toml: cannot be read"):
        load_languages(tmp_path / "gone.toml")
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(GrammarError, match=r"bad\.toml: not valid TOML"):
        load_languages(tmp_path)


def test_contents_decide_between_languages_of_one_extension():
    assert name_of("a.h", b"int f(void);\n") == "c"
    assert name_of("a.h", b'#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n') == "c"
    assert name_of("a.h", b"namespace a {\nint f();\n}\n") == "cpp"
    assert name_of("a.h", b"class A {\n public:\n  int f();\n};\n") == "cpp"
    assert name_of("a.hpp", b"int f(void);\n") == "cpp"


def test_a_users_language_wins_whatever_the_contents(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nchunker = "sections"\nextensions = [".h"]\n')
    language = load_languages(file).for_path("a.h", b"namespace a {\n}\n")
    assert language is not None
    assert language.name == "mine"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('contents = "("', "key 'contents': no regular expression"),
        ("masks = ['(']", "key 'masks': no regular expression"),
        ("conditionals = '(?P<open>if)'", "key 'conditionals': not all of the groups open, branch and never"),
    ],
)
def test_wrong_patterns_are_named(tmp_path, line, message):
    file = tmp_path / "mine.toml"
    query = "query = '(function_definition name: (identifier) @name) @function'"
    file.write_text(f'name = "mine"\ngrammar = "python"\nextensions = [".x"]\n{line}\n{query}\n')
    with pytest.raises(GrammarError, match=re.escape(message)):
        load_languages(file)
