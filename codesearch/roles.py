"""What a path and `.gitattributes` say about the role of a file: test, example, vendored, generated, docs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntFlag


class Role(IntFlag):
    """Bits, because a vendored file may be a test as well."""

    NONE = 0
    TEST = 1
    EXAMPLE = 2
    VENDORED = 4
    GENERATED = 8
    DOCS = 16


# Directory and file-name conventions that hold over ecosystems, each as whole path words.
_PATTERNS = (
    (
        Role.TEST,
        r"(^|/)(tests?|testing|spec|specs|__tests__|testdata|test_data|e2e|fixtures|mocks?|__mocks__)(/|$)"
        r"|(^|/)(test_[^/]*|conftest\.[^/]*|[^/]*[_.-](tests?|spec)\.[^/]+|[^/]*\.bats)$"
        # Words in camel case, and projects with a dot: `commonTest/`, `Depot.Tests/`, `DepotSpec.kt`; not `latest/`.
        r"|(?-i:(^|/)[^/]*([a-z0-9]Test|[A-Za-z0-9]Tests|[._-][Tt]ests?)/)"
        r"|(?-i:(^|/)[^/]*(Tests?\.(java|kt|scala|cs|swift|php|hs)|Spec\.(scala|hs|kt|swift|rb)|Specs\.cs|Suite\.scala)$)",
    ),
    (Role.EXAMPLE, r"(^|/)(examples?|samples?|demos?|benchmarks?|bench(es)?|tutorials?|playground|scratch)(/|$)"),
    (Role.VENDORED, r"(^|/)(vendor|vendored|_vendor|third[_-]party|node_modules|external|extern|deps)(/|$)"),
    (
        Role.GENERATED,
        r"(^|/)(generated|gen|dist|build|out)(/|$)"
        r"|[._-](generated|gen|pb|pb2|pb2_grpc|g)\.[a-z]+$|_string\.go$|\.designer\.cs$",
    ),
    (Role.DOCS, r"(^|/)(docs?|documentation|man|website)(/|$)|\.(md|markdown|rst|adoc|txt)$"),
)
_COMPILED = tuple((role, re.compile(pattern, re.IGNORECASE)) for role, pattern in _PATTERNS)


_MARKS = {
    "linguist-generated": Role.GENERATED,
    "linguist-vendored": Role.VENDORED,
    "linguist-documentation": Role.DOCS,
}
_NO_MARKS: Mapping[str, bool] = {}


def role_of(path: str, marks: Mapping[str, bool] = _NO_MARKS) -> Role:
    """The roles that a `/`-separated path suggests, and those that its attributes give it or deny it."""
    role = Role.NONE
    for candidate, pattern in _COMPILED:
        if pattern.search(path):
            role |= candidate
    for name, given in marks.items():
        role = role | _MARKS[name] if given else role & ~_MARKS[name]
    return role
