"""Distils a sentence-transformers model into a static one: one vector per term of a word list.

Each term is embedded by itself by the teacher; all vectors are reduced by PCA and whitened, multiplied with a
rarity weight and stored as int8 with one scale per row. The same word list and teacher give the same files.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from export import write_files

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.terms import TERMS_VERSION

RAREST = 1e-7  # share of a term seen about once in all that was counted
BATCH = 1024  # terms are two or three tokens long, so large batches pay


def read_words(path: Path) -> tuple[list[str], np.ndarray]:
    """The terms of a word list and the share of each among all terms."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return [row[0] for row in rows], np.array([float(row[3]) for row in rows])


def embed_terms(teacher: str, terms: list[str]) -> np.ndarray:
    """The teacher's unit vector of every term, in order."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from sentence_transformers import SentenceTransformer

    torch.manual_seed(0)
    torch.set_num_threads(2)
    model = SentenceTransformer(teacher, device="cpu", trust_remote_code=False)
    started = time.monotonic()
    vectors = np.empty((len(terms), model.get_embedding_dimension()), np.float32)
    order = sorted(range(len(terms)), key=lambda i: (len(terms[i]), terms[i]))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        vectors[rows] = model.encode(
            [terms[i] for i in rows], batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        print(
            f"{start + len(rows)}/{len(order)} terms, {time.monotonic() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return vectors


def reduce_dimensions(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Principal components of centred vectors, each scaled to unit variance.

    Without the scaling the few directions in which all terms differ a little drown the many that tell them
    apart. Signs are fixed, so that the result is one and the same.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :dimensions]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])
    components = centred @ axes
    return components / components.std(axis=0)


def rarity(share: np.ndarray) -> np.ndarray:
    """How much a term says: log(1 / share), 1 for the rarest; a term that was never seen counts as rarest."""
    weight = np.log(1 / np.maximum(share, RAREST))
    return weight / weight.max()


def quantise(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 rows and the float32 scale of each."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / 127
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def write_model(folder: Path, terms: list[str], matrix: np.ndarray, config: dict[str, object]) -> None:
    """Writes the files that codesearch.embedding and sentence-transformers read."""
    write_files(folder, terms, *quantise(matrix), config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", type=Path, help="word list written by vocabulary.py")
    parser.add_argument("model", type=Path, help="folder to write")
    parser.add_argument("--teacher", required=True, help="folder or name of a sentence-transformers model")
    parser.add_argument(
        "--teacher-name", default="all-MiniLM-L6-v2", help="named in config.json (default: %(default)s)"
    )
    parser.add_argument("--vectors", type=Path, help="keep the teacher's vectors here (.npy) and reuse them")
    parser.add_argument("--dimensions", type=int, default=256, help="default: %(default)s")
    parser.add_argument("--version", type=int, default=1, help="version in config.json (default: %(default)s)")
    args = parser.parse_args()

    terms, share = read_words(args.words)
    if args.vectors and args.vectors.exists():
        vectors = np.load(args.vectors, allow_pickle=False)
    else:
        vectors = embed_terms(args.teacher, terms)
        if args.vectors:
            np.save(args.vectors, vectors)
    if len(vectors) != len(terms):
        sys.exit(f"{args.vectors} holds {len(vectors)} vectors for {len(terms)} terms: made from another word list")
    matrix = reduce_dimensions(vectors, args.dimensions) * rarity(share)[:, None]
    config = {
        "format": 1,
        "name": args.model.name,
        "version": args.version,
        "terms_version": TERMS_VERSION,
        "dimensions": args.dimensions,
        "source": f"distilled from {args.teacher_name}, {len(terms)} terms",
        "fields": {"body": 1.0, "name": 0.9, "signature": 0.3, "doc": 0.5},
    }
    write_model(args.model, terms, matrix, config)


if __name__ == "__main__":
    main()
