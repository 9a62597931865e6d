"""Measures an embedding model alone, without any other signal: how often a question finds its declaration.

Reads a folder with `queries.jsonl` (one object a line: query, repo, language, path, start, end; lines 1-based) and
one source tree per repository. Every file is parsed and chunked as an index run would do it, embedded, and the
chunks are ranked by cosine to the query. Prints, for each language and for all queries,

* success@k: among the first k chunks is one of the right file that overlaps the declaration;
* exact@k: and that shares at least half of the union of lines with it. A class that contains the declaration
  counts for the first and not for the second.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.chunking import TokenBudget, chunk_code
from codesearch.embedding import load_embedder
from codesearch.languages import load_languages
from codesearch.parsing import parse
from codesearch.terms import count_chunk_terms
from codesearch.types import Chunk, Embedder

LARGEST_FILE = 600_000  # bytes; larger ones are generated or data
RANKS = (1, 5, 10)


def read_chunks(root: Path, embedder: Embedder) -> tuple[list[Chunk], list[str]]:
    """All chunks of the code files below a folder, and the path of each."""
    languages = load_languages()
    budget = TokenBudget(embedder.token_budget, embedder.count_tokens)
    chunks: list[Chunk] = []
    paths: list[str] = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if ".git" in file.parts or file.is_symlink() or not file.is_file() or file.stat().st_size > LARGEST_FILE:
            continue
        content = file.read_bytes()
        language = languages.for_path(path, content[:200])
        if language is None or language.syntax is None:
            continue
        found = [c for c in chunk_code(content, parse(content, language), budget) if c.body or c.symbol]
        chunks += found
        paths += [path] * len(found)
    return chunks, paths


def ranks_of(question: dict[str, Any], order: np.ndarray, chunks: list[Chunk], paths: list[str]) -> tuple[int, int]:
    """The first rank that overlaps the declaration and the first that matches it; 0 for none among the best."""
    overlapping = 0
    for rank, index in enumerate(order[: max(RANKS)], 1):
        span = chunks[index].span
        shared = min(span.end_line, question["end"]) - max(span.start_line, question["start"]) + 1
        if paths[index] != question["path"] or shared <= 0:
            continue
        overlapping = overlapping or rank
        union = max(span.end_line, question["end"]) - min(span.start_line, question["start"]) + 1
        if shared / union >= 0.5:
            return overlapping, rank
    return overlapping, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="folder with queries.jsonl and the source trees")
    parser.add_argument("--model", help="folder or name of a model (default: the shipped one)")
    parser.add_argument("--path-weight", type=float, default=0.0, help="weight of the path's vector (default: 0)")
    args = parser.parse_args()

    embedder = load_embedder(args.model)
    questions = [json.loads(line) for line in (args.questions / "queries.jsonl").read_text("utf-8").splitlines()]
    by_repository = defaultdict(list)
    for question in questions:
        by_repository[question["repo"]].append(question)
    results = defaultdict(list)
    for name, asked in sorted(by_repository.items()):
        chunks, paths = read_chunks(args.questions / name, embedder)
        vectors = embedder.embed_chunks(chunks, [count_chunk_terms(chunk) for chunk in chunks])
        if args.path_weight:
            vectors = vectors + args.path_weight * embedder.embed_paths(paths)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        for question in asked:
            order = np.argsort(-(vectors @ embedder.embed_query(question["query"])), kind="stable")
            ranks = ranks_of(question, order, chunks, paths)
            results[question["language"]].append(ranks)
            results["all"].append(ranks)
        print(f"{name}: {len(chunks)} chunks, {len(asked)} questions", file=sys.stderr)

    print(embedder.model_id)
    for language, ranks in sorted(results.items()):
        columns = [
            f"{label}@{k} {np.mean([0 < pair[which] <= k for pair in ranks]):.3f}"
            for which, label in enumerate(("success", "exact"))
            for k in RANKS
        ]
        print(f"{language:11} n={len(ranks):4} {'  '.join(columns)}")


if __name__ == "__main__":
    main()
