"""Understands a query: its words, which of them carry meaning, which look like identifiers, and its form. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from codesearch.terms import WHOLE, identifier_terms, split_identifier, words

# Words that hold a question together and say nothing about code; dropped unless nothing else is left.
STOP_WORDS = frozenset(
    """a about after all also an and any are as at be because been before being but by can could did do does doing
    each for from had has have how i if in into is it its me my no not of on or our should so some such than that the
    their them then there these they this those to us was we were what when where which while who why will with would
    you your code function functions method methods implemented implementation defined located happen happens work
    works used place""".split()  # noqa: SIM905 - a block of words is easier to read and to change
)
# Verbs that doc comments and commands start with: such a question asks for one declaration, not for a place.
_VERBS = frozenset(
    """abort accept acquire activate add adjust align allocate allow append apply assert assign attach authenticate
    authorize begin bind block broadcast build cache calculate call cancel cast change check choose clean clear clone
    close collect combine compare compile complete compress compute configure connect consume convert copy count crash
    create deactivate decode decompress decrease decrypt define delete dequeue derive deserialize destroy detach detect
    determine disable disconnect dispatch display divide download draw drop dump emit enable encode encrypt end enqueue
    ensure enumerate escape estimate evaluate exclude execute exit expand export extract fetch fill filter find finish
    fire fix flatten flush fold force format free generate get give grab group guess handle hash hide identify ignore
    import include increase increment index infer initialize initialise inject insert inspect install intercept invoke
    issue iterate join keep kill launch limit link list listen load lock log look lookup make map mark match measure
    merge modify monitor mount move multiply normalize normalise notify obtain open order override pack parse pass patch
    pause perform pick poll pop populate prepare prevent print process produce pull push put query queue raise read
    rebuild receive recompute record recover redirect reduce refresh register reject release reload remove rename render
    reopen replace report request require reset resize resolve restore resume retrieve retry return reverse rewrite roll
    rotate round run save scan schedule scroll search select send serialize set setup shift show shut shutdown sign skip
    sleep sort spawn split start stop store stream strip submit subscribe subtract swap switch sync synchronize take
    terminate test throw toggle tokenize trace transform translate traverse trigger trim truncate try turn unlock
    unregister unsubscribe unwrap update upgrade upload use validate verify visit wait walk warn watch wrap
    write yield""".split()  # noqa: SIM905
)
# Those that as often begin a topic: "request cancellation", "cache store repository", "test watcher".
_NOUNS = frozenset(
    """abort block build cache change copy crash dispatch display dump export filter flush format group hash
    index insert issue limit link list lock log map match measure mount order patch process query queue
    record redirect release report request retry round scan schedule scroll search sort store stream switch
    test trace trigger upgrade upload watch""".split()  # noqa: SIM905
)
_ASKS_FOR_ONE = frozenset({"where", "which", "who", "when"})  # "where is the payload unmasked": one declaration
_SHORTEST_GERUND = len("thing")
_ASKS_FOR_A_PLACE = frozenset({"how", "what", "why", "does", "is", "can"})
# What only a sentence has: it says what one declaration does, where a bare noun phrase names a topic.
_OF_SENTENCES = frozenset(
    """the a an this that it its is are if whether we you given has have be was will should not""".split()  # noqa: SIM905
)
_MOST_WORDS = 64  # of a query; what is pasted beyond that costs time and changes no answer
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:::|\.|#|->)[A-Za-z_$~][\w$]*)*")


_PHRASE = re.compile(r'(?<!\S)"([^"]{2,300})"(?!\w)')
_UNWANTED = re.compile(r"(?<!\S)-([A-Za-z_]\w+)(?!\S)")


class Form(StrEnum):
    """How a query is put; it decides what signals count, and how further hits of one file are held back."""

    SENTENCE = "sentence"  # "parse a cookie header", "the first route that matches": one declaration
    COMMAND = "command"  # "parse cookie header"
    QUESTION = "question"  # "how does routing work": a place
    PHRASE = "phrase"  # "session cookie signing"
    IDENTIFIER = "identifier"  # "SecureCookieSession"


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term to look up, and the share of its rarity that a match is worth."""

    term: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class AskedName:
    """A symbol that may be asked for, and the share of the query's words that it makes up."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was understood.

    `terms` are sub-words and whole identifiers to look up; `compounds` are adjacent words (or one in lower case)
    as one identifier, which help where they exist and are not missed where they do not. `names` are the symbols
    that may be asked for, most complete first. `phrases` stood in double quotes: what answers has them letter for
    letter, if anything does. `unwanted` are words after a minus: what has one of them is no answer. Neither the quotes
    nor these words are part of `text`.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    compounds: tuple[QueryTerm, ...]
    names: tuple[AskedName, ...]
    form: Form
    phrases: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it can be looked up."""
        return not self.terms and not self.names


def understand(text: str) -> Query:
    """Reads a query; any text is acceptable, an empty one gives an empty query."""
    unwanted = tuple(match.group(1) for match in _UNWANTED.finditer(text))
    rest = " ".join(_UNWANTED.sub(" ", text).split()) if unwanted else text
    if unwanted and not words(rest):  # nothing else is said: a word after a dash, as in a list
        unwanted, rest = (), text
    phrases = tuple(" ".join(phrase.split()) for phrase in _PHRASE.findall(rest) if words(phrase))
    text = rest.replace('"', " ") if phrases else rest
    said = words(text)[:_MOST_WORDS]
    meant = [word for word in said if word.lower() not in STOP_WORDS] or said
    terms: dict[str, float] = {}
    for word in meant:
        for term in identifier_terms(word):
            terms.setdefault(term, 1.0)
    plain = [term for word in meant for term in split_identifier(word)]
    compounds: dict[str, float] = {}
    for size in (1, 2, 3):
        for start in range(len(plain) - size + 1):
            whole = WHOLE + "".join(plain[start : start + size])
            if whole not in terms:
                compounds.setdefault(whole, 0.5)  # half a word's weight: its parts have counted already
    form = _form(text, said)
    return Query(
        text=text,
        terms=tuple(QueryTerm(term, weight) for term, weight in terms.items()),
        compounds=tuple(QueryTerm(term, weight) for term, weight in compounds.items()),
        names=_names(text, meant, form),
        form=form,
        phrases=phrases,
        unwanted=unwanted,
    )


def _form(text: str, said: list[str]) -> Form:
    stripped = text.strip()
    if _IDENTIFIER.fullmatch(stripped) and (
        len(said) > 1 or len(identifier_terms(stripped)) != 1 or stripped.istitle()
    ):
        return Form.IDENTIFIER
    if not said:
        return Form.PHRASE
    first = said[0].lower()
    if first in _ASKS_FOR_ONE:
        return Form.SENTENCE
    if first in _ASKS_FOR_A_PLACE or stripped.endswith("?"):
        return Form.QUESTION
    if len(said) == 1:
        return Form.IDENTIFIER
    if first.endswith("ing") and len(first) > _SHORTEST_GERUND:  # "running code in a thread": a topic, not its doc
        return Form.PHRASE
    if not _OF_SENTENCES.isdisjoint(word.lower() for word in said):
        return Form.SENTENCE
    if first in _NOUNS:
        return Form.PHRASE
    if first in _VERBS or (first.endswith("s") and (first[:-1] in _VERBS or first[:-2] in _VERBS)):
        return Form.COMMAND
    return Form.PHRASE


def _names(text: str, meant: list[str], form: Form) -> tuple[AskedName, ...]:
    """Identifiers in the query, and short phrases written as one; a capitalised word alone is only a word."""
    names: dict[str, float] = {}
    if form is Form.IDENTIFIER:
        names[text.strip()] = 1.0
    size = sum(len(split_identifier(word)) for word in meant) or 1
    for match in _IDENTIFIER.finditer(text):
        name = match.group()
        parts = sum(len(split_identifier(word)) for word in words(name))
        if parts > 1:
            names.setdefault(name, min(parts / size, 1.0))
    if 1 < len(meant) <= 4:
        names.setdefault("_".join(meant), 1.0)
    return tuple(AskedName(name, share) for name, share in names.items())
