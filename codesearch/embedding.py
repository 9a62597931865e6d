"""Turns chunks, paths and queries into unit vectors. Reads model files; knows no repository and no index.

Two kinds of model stand behind the Embedder protocol:

* StaticEmbedder: one vector per term (ours, shipped in the package), pooled per field; needs numpy alone.
* TransformerEmbedder: any sentence-transformers model; needs the `transformers` extra.

`load_embedder` chooses. Weights are read from safetensors only, and no code that comes with a model is run.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from codesearch.errors import ModelError
from codesearch.pretrained import load_pretrained
from codesearch.terms import TERMS_VERSION, count_subwords, count_terms, is_whole, words
from codesearch.types import Chunk, ChunkTerms, Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

MODELS = Path(__file__).parent / "models"
DEFAULT_MODEL = "code-static"

_FORMAT = 1  # of the folder of a static model
_POOLING_VERSION = 2  # part of the model id: raise it when the same weights give other vectors
_STATIC_TOKEN_BUDGET = 512  # about 60 lines; the mean of more words than that says little of any
_SHORTEST_PIECE = 3  # letters; shorter pieces fit into any word and mean nothing
_LONGEST_UNKNOWN = 40  # letters; longer runs are data, not words
_CHUNKS_AT_ONCE = 512  # bounds the arrays of row numbers
_ROWS_AT_ONCE = 1024  # 1 MiB of gathered float32 rows of 256: fits the second-level cache
_REMEMBERED_TERMS = 300_000  # terms outside the vocabulary whose rows are kept; some 30 MB
# Weight of a term by its count: the tenth `item` of a loop says less than the first. A table, so that no count is
# ever computed two ways, alone and as one of a vector.
_DAMPED = (1 + np.log(np.arange(1, 1025))).astype(np.float32)
_STATIC_FILES = ("config.json", "vocabulary.txt", "model.safetensors")
_FIELDS = frozenset({"body", "name", "signature", "doc"})
_TEXT_VERSION = 1  # part of a transformer's model id: raise it when `chunk_text` changes

# Words of a question that say nothing about the code it asks for. Not among them: find, get, look, show …,
# which are often part of the name that is asked for.
_QUESTION_WORDS = """
a an and are as at be by can could did do does doing for from had has have how if in into is it its let me my
need of on or our please should so some tell that the their them there these they this those to us used uses using
want was we were what when where which who why will with would you your
"""
_UNASKED = frozenset(_QUESTION_WORDS.split())


def load_embedder(name: str | None = None) -> Embedder:
    """The embedder of our static model, or of a sentence-transformers model by folder or name.

    A folder with a static model of our format works too. Folders and cached models come first; only a name
    that is not on this machine makes sentence-transformers ask its hub (never with HF_HUB_OFFLINE=1).
    Raises ModelError when the model or the library for it is missing or damaged.
    """
    if name is None or name == DEFAULT_MODEL:
        return StaticEmbedder(MODELS / DEFAULT_MODEL)
    if (Path(name) / "vocabulary.txt").is_file():
        return StaticEmbedder(Path(name))
    return TransformerEmbedder(name)


class StaticEmbedder:
    """An embedder with one vector per term.

    Each field of a chunk is pooled by itself, normalised and added with its weight: the name of a function
    would otherwise drown in its body. Whole-identifier terms are left out; an unknown word counts as the
    known terms it is made of. Equal terms give bitwise equal vectors, whatever else is in the batch.
    """

    def __init__(self, folder: Path) -> None:
        model = _read_static_model(folder)
        self._name = model.name
        self._vocabulary = model.vocabulary
        self._rows = model.rows
        self._scale = model.scale
        self._field_weights = model.field_weights
        self._checksum = model.checksum
        self._row_of = _RowLookup(model.vocabulary)

    @property
    def model_id(self) -> str:
        """Names the weights, the settings in config.json, and the versions of splitting and pooling."""
        return f"{self._name}-{self._checksum:08x}-t{TERMS_VERSION}p{_POOLING_VERSION}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._rows.shape[1])

    @property
    def token_budget(self) -> int:
        """The largest chunk, in terms."""
        return _STATIC_TOKEN_BUDGET

    def count_tokens(self, text: str) -> int:
        """The number of sub-words in a text, known or not."""
        return count_subwords(text)

    def embed_chunks(self, chunks: Sequence[Chunk], terms: Sequence[ChunkTerms]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(terms), dimensions). Only the counted terms are looked at."""
        if len(chunks) != len(terms):
            raise ValueError(f"{len(chunks)} chunks, but the terms of {len(terms)}")
        fields: dict[str, list[tuple[Mapping[str, int], ...]]] = {
            "body": [(each.body,) for each in terms],
            "name": [(each.symbol, each.parents) for each in terms],
            "signature": [(each.signature,) for each in terms],
            "doc": [(each.doc,) for each in terms],
        }
        # All fields in one go: files are embedded one by one, and each call has a price of its own.
        pooled = self._pool([field for name in self._field_weights for field in fields[name]])
        total = np.zeros((len(terms), self.dimensions), np.float32)
        for place, weight in enumerate(self._field_weights.values()):
            total += np.float32(weight) * pooled[place * len(terms) : (place + 1) * len(terms)]
        return _normalised(total)

    def embed_paths(self, paths: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of each path, shape (len(paths), dimensions): as much of the file's name as of its folders'."""
        stems = [PurePosixPath(path).with_suffix("") for path in paths]
        names = self._pool([(count_terms(stem.name),) for stem in stems])
        return _normalised(names + self._pool([(count_terms(str(stem.parent)),) for stem in stems]))

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The unit vector of a query without its question words, unless it has no others.

        Repeated words count as often as they stand there, undamped: a plain sum is all that sentence-transformers
        can compute from the same files.
        """
        counts = count_terms(query)
        asked = {term: count for term, count in counts.items() if term not in _UNASKED}
        vector: NDArray[np.float32] = self._pool([(asked,)], damped=False)[0]
        if not vector.any():
            vector = self._pool([(counts,)], damped=False)[0]
        return vector

    def _pool(self, fields: Sequence[tuple[Mapping[str, int], ...]], *, damped: bool = True) -> NDArray[np.float32]:
        """The normalised weighted sum of each field's term vectors; a field is one or more count mappings."""
        pooled = np.zeros((len(fields), self.dimensions), np.float32)
        # A few rows are scaled as they are needed; many are worth the whole matrix in float32, once.
        matrix = self._matrix if len(fields) > _CHUNKS_AT_ONCE // 8 else None
        for start in range(0, len(fields), _CHUNKS_AT_ONCE):
            if self._row_of.is_full:
                self._row_of = _RowLookup(self._vocabulary)
            numbers, rows, weights = self._weighted_rows(fields[start : start + _CHUNKS_AT_ONCE], damped=damped)
            for first, last in _blocks(numbers, _ROWS_AT_ONCE):
                wanted = rows[first:last]
                vectors = self._scaled(wanted) if matrix is None else matrix[wanted]
                borders = [*_starts(numbers[first:last]).tolist(), last - first]
                for a, b in pairwise(borders):
                    # Not np.dot: BLAS may split the sum by the number of threads, einsum adds row by row.
                    np.einsum(
                        "i,ij->j",
                        weights[first + a : first + b],
                        vectors[a:b],
                        out=pooled[start + numbers[first + a]],
                    )
        return _normalised(pooled)

    def _weighted_rows(
        self, fields: Sequence[tuple[Mapping[str, int], ...]], *, damped: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Parallel arrays (field number, matrix row, weight), sorted by field and row, no pair twice."""
        lookup = self._row_of
        found: list[int] = []
        times: list[int] = []
        lengths: list[int] = []
        for mappings in fields:
            for mapping in mappings:
                found.extend(map(lookup.__getitem__, mapping))
                times.extend(mapping.values())
            lengths.append(sum(map(len, mappings)))
        rows = np.array(found, np.int64)
        counts = np.array(times, np.int64)
        numbers = np.repeat(np.arange(len(fields), dtype=np.int64), lengths)

        compound = np.flatnonzero(rows >= len(self._vocabulary))
        pieces = [lookup.pieces_of(int(rows[i])) for i in compound]
        repeats = [len(each) for each in pieces]
        keep = (rows >= 0) & (rows < len(self._vocabulary))
        numbers = np.concatenate([numbers[keep], np.repeat(numbers[compound], repeats)])
        counts = np.concatenate([counts[keep], np.repeat(counts[compound], repeats)])
        rows = np.concatenate([rows[keep], np.fromiter(chain.from_iterable(pieces), np.int64)])

        # Integer counts are merged before they are weighted: their sum does not depend on the order.
        keys = numbers * len(self._vocabulary) + rows
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = _starts(keys)
        merged = np.add.reduceat(counts[order], first) if len(first) else counts
        weights = _DAMPED[np.minimum(merged, len(_DAMPED)) - 1] if damped else merged.astype(np.float32)
        numbers, rows = np.divmod(keys[first], len(self._vocabulary))
        return numbers, rows, weights

    @cached_property
    def _matrix(self) -> NDArray[np.float32]:
        return self._scaled(slice(None))

    def _scaled(self, which: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        return self._rows[which].astype(np.float32) * self._scale[which, None]


class _RowLookup(dict[str, int]):
    """Term to matrix row; -1 for a term without a vector; numbers past the vocabulary name several rows.

    Remembers the answers for terms that are not in the vocabulary; what it answers never depends on them.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._known = dict(self)
        self._longest = max(map(len, vocabulary), default=0)
        self._compounds: list[tuple[int, ...]] = []
        self._lock = Lock()

    @property
    def is_full(self) -> bool:
        """Whether so many terms are remembered that a fresh one should take its place."""
        return len(self) > len(self._known) + _REMEMBERED_TERMS

    def pieces_of(self, number: int) -> tuple[int, ...]:
        """The rows behind a number past the vocabulary."""
        return self._compounds[number - len(self._known)]

    def __missing__(self, term: str) -> int:
        rows = () if is_whole(term) else self._pieces(term)
        number = rows[0] if rows else -1
        if len(rows) > 1:
            with self._lock:
                number = len(self._known) + len(self._compounds)
                self._compounds.append(rows)
        self[term] = number
        return number

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The known terms that an unknown word is best read as, from left to right; letters may be left over.

        Best is the largest sum of squared lengths: few and long terms. The longest first would be simpler, but
        reads `tokenstream` as `tokens` and a rest.
        """
        if len(word) > _LONGEST_UNKNOWN or word.isdigit():
            return ()
        best: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (len(word) + 1)  # for what begins at each letter
        for start in range(len(word) - _SHORTEST_PIECE, -1, -1):
            best[start] = best[start + 1]
            for end in range(start + _SHORTEST_PIECE, min(len(word), start + self._longest) + 1):
                row = self._known.get(word[start:end])
                if row is not None and (end - start) ** 2 + best[end][0] > best[start][0]:
                    best[start] = ((end - start) ** 2 + best[end][0], (row, *best[end][1]))
        return best[0][1]


@dataclass(frozen=True, slots=True)
class _StaticModel:
    name: str
    vocabulary: tuple[str, ...]
    rows: NDArray[np.int8]
    scale: NDArray[np.float32]
    field_weights: Mapping[str, float]
    checksum: int


def _read_static_model(folder: Path) -> _StaticModel:
    """Reads and checks config.json, vocabulary.txt and model.safetensors; raises ModelError."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        contents = [(folder / name).read_bytes() for name in _STATIC_FILES]
        config = json.loads(contents[0])
        vocabulary = tuple(contents[1].decode("utf-8").split("\n")[:-1])
        tensors = load(contents[2])
    except OSError as error:
        raise _damaged(folder, f"{error.strerror}: {Path(str(error.filename)).name}") from error
    except (ValueError, KeyError, SafetensorError) as error:
        raise _damaged(folder, str(error)) from error

    if not isinstance(config, dict) or config.get("format") != _FORMAT:
        raise _damaged(folder, f"config.json is not of format {_FORMAT}")
    fields = config.get("fields")
    if not isinstance(fields, dict) or not fields or not fields.keys() <= _FIELDS:
        raise _damaged(folder, f"config.json: fields must give weights to some of {', '.join(sorted(_FIELDS))}")
    if not all(isinstance(weight, int | float) and 0 <= weight < math.inf for weight in fields.values()):
        raise _damaged(folder, "config.json: a field's weight is not a number from 0 up")
    rows, scale = tensors.get("embeddings"), tensors.get("scale")
    if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or not 0 < rows.shape[1] <= 4096:
        raise _damaged(folder, "model.safetensors holds no int8 matrix `embeddings`")
    if scale is None or scale.dtype != np.float32 or scale.shape != rows.shape[:1]:
        raise _damaged(folder, "model.safetensors holds no float32 `scale` for each row")
    if not np.isfinite(scale).all():
        raise _damaged(folder, "model.safetensors: a scale is not a finite number")
    if len(vocabulary) != len(rows) or len(set(vocabulary)) != len(vocabulary):
        raise _damaged(folder, f"vocabulary.txt has not one different term for each of {len(rows)} rows")
    if rows.shape[1] != config.get("dimensions"):
        raise _damaged(folder, "config.json and model.safetensors disagree on the dimensions")
    checksum = 0
    # Of the tensors only what is read here: the rest of the file is for sentence-transformers.
    for content in (contents[0], contents[1], rows.data, scale.data):
        checksum = zlib.crc32(content, checksum)
    return _StaticModel(str(config.get("name", folder.name)), vocabulary, rows, scale, fields, checksum)


def _damaged(folder: Path, what: str) -> ModelError:
    return ModelError(
        f"The embedding model in {folder} cannot be read: {what}.",
        hint="Install codesearch again: pip install --force-reinstall codesearch"
        if folder.parent == MODELS
        else "Give the folder of an undamaged model, or leave --model out to use the one that is built in.",
    )


def _starts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each run of equal values of a sorted array begins."""
    begins = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def _blocks(numbers: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Cuts a sorted array into half-open ranges of about `size` that never part equal values."""
    start = 0
    while start < len(numbers):
        end = int(np.searchsorted(numbers, numbers[min(start + size, len(numbers)) - 1], side="right"))
        yield start, end
        start = end


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows scaled to length 1; zero rows stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
    return vectors / np.where(lengths > 0, lengths, 1).astype(np.float32)[:, None]


class TransformerEmbedder:
    """An embedder that runs a sentence-transformers model on each chunk as one text, without its path."""

    def __init__(self, name: str) -> None:
        self._model: SentenceTransformer = load_pretrained(name, "SentenceTransformer")
        self._model_id = f"{Path(name).name}-{_fingerprint(self._model)}"

    @property
    def model_id(self) -> str:
        """The model's name and a hash over its weights and the form of the embedded text."""
        return self._model_id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        dimensions = self._model.get_embedding_dimension()
        if dimensions is None:
            raise ModelError("The model does not say how long its vectors are.", hint="Choose another --model.")
        return int(dimensions)

    @property
    def token_budget(self) -> int:
        """The largest chunk, in tokens: what the model reads, less room for the names put before the body."""
        longest = self._model.get_max_seq_length() or _STATIC_TOKEN_BUDGET
        return max(longest * 7 // 8, 16)

    def count_tokens(self, text: str) -> int:
        """The number of this model's tokens in a text, special tokens included."""
        return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def embed_chunks(self, chunks: Sequence[Chunk], terms: Sequence[ChunkTerms]) -> NDArray[np.float32]:  # noqa: ARG002
        """Unit vectors, shape (len(chunks), dimensions). What exceeds the model's length is cut off."""
        texts = [chunk_text(chunk) for chunk in chunks]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        written = [i for i, text in enumerate(texts) if text]
        if written:
            vectors[written] = self._model.encode_document(
                [texts[i] for i in written], normalize_embeddings=True, show_progress_bar=False
            )
        return vectors

    def embed_paths(self, paths: Sequence[str]) -> NDArray[np.float32]:
        """Zero rows, shape (len(paths), dimensions): such models were not trained on paths."""
        return np.zeros((len(paths), self.dimensions), np.float32)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The unit vector of a query, shape (dimensions,); zeros when it is blank."""
        if not query.strip():
            return np.zeros(self.dimensions, np.float32)
        vector = self._model.encode_query(query, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vector, np.float32)


def chunk_text(chunk: Chunk) -> str:
    """A chunk as one text for a transformer: `parents > symbol`, then signature, doc and body.

    Signature and doc are left out where the body already says them, as the body of a whole function does.
    """
    body = " ".join(words(chunk.body))
    parts = [" > ".join([*chunk.parents.split(), *([chunk.symbol] if chunk.symbol else [])])]
    parts += [part for part in (chunk.signature, chunk.doc) if part and " ".join(words(part)) not in body]
    return "\n".join(part for part in (*parts, chunk.body) if part.strip())


def _fingerprint(model: SentenceTransformer) -> str:
    """A short hash that differs between models: names, shapes and the first values of all weights."""
    digest = hashlib.sha256(f"{_TEXT_VERSION} {model.get_max_seq_length()} {model.prompts}".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        # The first values are enough to tell models apart, and all of them would take seconds.
        digest.update(tensor.flatten()[:64].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:12]
