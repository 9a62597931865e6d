"""Turns text into code-aware terms. Pure; knows no index and no model.

One pass over a chunk gives counts that serve both BM25 and the static embedding:

* every identifier or word is split at underscores, camelCase, digits and acronym borders and lower-cased:
  `parseHTTPResponse2` gives `parse http response 2`;
* an identifier of several sub-words is also kept whole, as one term that is equal for all its spellings:
  `parseHTTPResponse2` and `PARSE_HTTP_RESPONSE_2` both give `=parsehttpresponse2`.

Single letters are dropped: they are loop variables nearly everywhere, and cost postings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from functools import lru_cache

from codesearch.types import Chunk, ChunkTerms

TERMS_VERSION = 1  # part of every stored key that depends on how text is split

_SEPARATORS = re.compile(r"::|->|[#./]")  # of the parts of a qualified name, in any language
_QUALIFIED = re.compile(r"\w+(?:(?:::|\.)\w+)+")
_WORD = re.compile(r"[^\W_]\w*|_+[^\W_]\w*")
# Acronym before a capitalised word (HTTP|Response), a word, capitals, digits, then letters of other scripts.
_SUBWORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# Longer runs are data (base64, hashes, minified code), not names; they would fill the vocabulary.
_LONGEST_IDENTIFIER = 80
_LONGEST_SUMMARY = 400  # characters: three or four lines

# For counting: what every byte looks like. Bytes of other scripts count as small letters.
_SHAPES = bytes(
    ord("A") if chr(byte).isascii() and chr(byte).isupper()
    else ord("a") if byte >= 0x80 or chr(byte).isalnum()
    else ord(" ")
    for byte in range(256)
)  # fmt: skip

WHOLE = "="  # marks a whole identifier, so that it never meets a plain word


@lru_cache(maxsize=1 << 17)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-cased sub-words of one identifier, in order: `getURLFor_x2` gives `("get", "url", "for", "2")`."""
    if len(identifier) > _LONGEST_IDENTIFIER:
        return ()
    if identifier.isascii():
        parts = _SUBWORD.findall(identifier)
    else:
        # Split where the same identifier would split if its letters were ASCII letters of the same case.
        shape = "".join(map(_ascii_of_same_case, identifier))
        parts = [identifier[match.start() : match.end()] for match in _SUBWORD.finditer(shape)]
    return tuple(part.lower() for part in parts if len(part) > 1 or part.isdigit() or not part.isascii())


def _ascii_of_same_case(character: str) -> str:
    if character.isascii():
        return character
    if character.isupper():
        return "A"
    if character.islower():
        return "a"
    return "0" if character.isdigit() else "ー"


@lru_cache(maxsize=1 << 17)
def identifier_terms(identifier: str) -> tuple[str, ...]:
    """Sub-words of an identifier and, where it has several parts, its whole form behind `=`."""
    words = split_identifier(identifier)
    whole = identifier.replace("_", "").lower()
    if len(identifier) > _LONGEST_IDENTIFIER or len(whole) < 2 or (words and words[0] == whole):
        return words
    return (*words, WHOLE + whole)


def words(text: str) -> list[str]:
    """Identifiers and words of a text as they are written, in order, repeated ones included."""
    return _WORD.findall(text)


def find_terms(text: str, terms: Set[str]) -> list[tuple[int, int]]:
    """Where these terms stand in a text, as (start, end): whole identifiers, or the sub-words of others."""
    found = []
    for word in _WORD.finditer(text):
        if not terms or terms.isdisjoint(identifier_terms(word.group())):
            continue
        if WHOLE + word.group().replace("_", "").lower() in terms:
            found.append(word.span())
            continue
        shape = "".join(map(_ascii_of_same_case, word.group()))
        for part in _SUBWORD.finditer(shape):
            start, end = word.start() + part.start(), word.start() + part.end()
            if text[start:end].lower() in terms:
                found.append((start, end))
    return found


def count_subwords(text: str) -> int:
    """About how many sub-words a text has, borders at acronyms and digits aside; ten times quicker than splitting."""
    shape = text.encode("utf-8", "replace").translate(_SHAPES)
    return len(shape.replace(b"aA", b"a A").split())


def count_words(text: str) -> Counter[str]:
    """How often each identifier or word, as written, occurs in a text."""
    return Counter(_WORD.findall(text))


def count_terms(text: str) -> dict[str, int]:
    """How often each term occurs in a text, sub-words and whole identifiers together."""
    counts: dict[str, int] = {}
    for word, times in count_words(text).items():
        for term in identifier_terms(word):
            counts[term] = counts.get(term, 0) + times
    return counts


def count_chunk_terms(chunk: Chunk) -> ChunkTerms:
    """The terms of every text field of a chunk."""
    return ChunkTerms(
        symbol=count_terms(chunk.symbol),
        parents=count_terms(chunk.parents),
        signature=count_terms(chunk.signature),
        doc=count_terms(summary(chunk.doc)),
        body=count_terms(chunk.body),
    )


def summary(doc: str) -> str:
    """The first paragraph of a doc comment, a few lines at most: what the rest explains in detail."""
    return doc.lstrip().partition("\n\n")[0][:_LONGEST_SUMMARY]


def name_parts(name: str) -> list[str]:
    """`Uploader.retry`, `Uploader::retry`, `Uploader#retry` → Uploader, retry."""
    return [part for part in _SEPARATORS.split(name) if part] or [name]


def own_name(symbol: str) -> str:
    """The name by which a declaration is asked for: `Conn` of `defmodule Plug.Conn`, else the symbol."""
    return name_parts(symbol)[-1] if _QUALIFIED.fullmatch(symbol) else symbol


def is_whole(term: str) -> bool:
    """Whether a term is a whole identifier rather than a sub-word; dense models leave those out."""
    return term.startswith(WHOLE)
