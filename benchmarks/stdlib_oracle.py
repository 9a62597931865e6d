"""Compares the declarations of Python's own standard library with those that Python's `ast` finds.

Every function and class must be a declaration of the same name that starts no later (decorators included) and
ends in the same line, or later with nothing but comments and blank lines between. Prints the share that does,
each one that does not with the likely reason, and how fast parsing is on one core. Exits 1 below the target.

    python benchmarks/stdlib_oracle.py [FOLDER]
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import time
import warnings
from collections import Counter
from pathlib import Path

from codesearch.languages import load_languages
from codesearch.parsing import parse

TARGET = 0.9995


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("stdlib"))
    language = load_languages().get("python")
    expected = matched = size = 0
    seconds = 0.0
    reasons: Counter[str] = Counter()
    warnings.simplefilter("ignore")  # the tests of Python contain doubtful code on purpose
    for path in sorted(root.rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        content = path.read_bytes()
        started = time.perf_counter()
        parsed = parse(content, language)
        seconds += time.perf_counter() - started
        size += len(content)
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError):
            continue  # not Python 3, or broken on purpose: there is nothing to compare with
        lines = content.split(b"\n")
        spans: dict[str, list[tuple[int, int]]] = {}
        for declaration in parsed.declarations:
            span = (declaration.span.start_line, declaration.span.end_line)
            spans.setdefault(declaration.symbol, []).append(span)
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            expected += 1
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if any(_fits(span, start, node.lineno, node.end_lineno or 0, lines) for span in spans.get(node.name, ())):
                matched += 1
                continue
            reason = _reason(node.name, start, spans, content, parsed.has_errors)
            reasons[reason] += 1
            print(f"{path.relative_to(root)}:{node.lineno}: {node.name}: {reason}")
    share = matched / expected if expected else 0.0
    for reason, times in reasons.most_common():
        print(f"{times:6}  {reason}")
    print(f"{matched} of {expected} declarations agree: {share:.4%} (target {TARGET:.2%})")
    print(f"{size / 1e6:.1f} MB in {seconds:.1f} s: {size / 1e6 / seconds:.1f} MB/s on one core")
    return 0 if share >= TARGET else 1


def _fits(span: tuple[int, int], start: int, keyword: int, end: int, lines: list[bytes]) -> bool:
    first, last = span
    # Not earlier than comments directly above: otherwise an enclosing one of the same name would do.
    if first > start or not first <= keyword <= last or last < end:
        return False
    between = [*lines[first - 1 : start - 1], *lines[end:last]]
    return all(not line.strip() or line.lstrip().startswith(b"#") for line in between)


def _reason(name: str, start: int, spans: dict[str, list[tuple[int, int]]], content: bytes, has_errors: bool) -> str:
    if b"\f" in content or b"\r" in re.sub(rb"\r\n", b"", content):
        return "form feed or lone CR: ast counts other lines"
    if name not in spans:
        return "no such name" + (" (the grammar reports a syntax error)" if has_errors else "")
    if all(first > start for first, _ in spans[name]):
        return "starts later"
    return "other lines" + (" (the grammar reports a syntax error)" if has_errors else "")


if __name__ == "__main__":
    sys.exit(main())
