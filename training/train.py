"""Trains the token matrix of a static model on the pairs of pairs.py.

A question and its code should meet; the other codes of the batch, most of them of the same repository, should not
(symmetric InfoNCE). Chunks and questions are pooled as StaticEmbedder pools them, so that the matrix can be written
back in the shipped format and nothing else changes. Starts from a distilled model: rows that no pair
teaches stay what they were.

Whole repositories are held out. The matrix with the best MRR on them is kept: longer training goes on to raise
the training accuracy while it forgets what the teacher knew.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from distil import write_model
from export import read_files
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding_bag, normalize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

HELD_OUT = (
    "caddyserver/caddy", "BurntSushi/ripgrep", "google/guice", "composer/composer", "App-vNext/Polly", "scrapy/scrapy",
    "denoland/std", "square/okhttp", "haskell/vector", "skypjack/entt", "rubocop/rubocop",
)  # fmt: skip
CANDIDATES = 5_000  # declarations of the held-out repositories that a question is asked of
GROUP = 128  # pairs of one repository that stand together in a batch: the hard wrong answers
GROUPS = 16  # groups of a batch
TEMPERATURE = 0.05
# Of the groups: sentences are what the model is to learn, names are what there is more of, commits say more loosely.
SHARES = {"question": 0.6, "name_question": 0.3, "commit_question": 0.1}
NAME_DROPPED = 0.3  # of the codes that a sentence asks for: its words must find the body, too
DOC_KEPT = 0.5  # of the codes that a name or a commit asks for
MEASURED_EVERY = 50  # steps
WARM_UP = 20  # steps
SEED = 7


@dataclass(frozen=True)
class Field:
    """One text of every declaration: rows and weights, cut by `starts`."""

    starts: np.ndarray
    rows: np.ndarray
    weights: np.ndarray

    def bags(self, items: np.ndarray, kept: np.ndarray | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, weights and offsets of some items as embedding_bag takes them; those not kept are empty."""
        lengths = self.starts[items + 1] - self.starts[items]
        if kept is not None:
            lengths = lengths * kept
        offsets = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.starts[items] - offsets, lengths)
        return (
            torch.from_numpy(self.rows[places].astype(np.int64)),
            torch.from_numpy(self.weights[places].astype(np.float32)),
            torch.from_numpy(offsets),
        )


class Pairs:
    """The file of pairs in memory."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            fields = [key.removesuffix("_starts") for key in arrays if key.endswith("_starts")]
            self.fields = {
                name: Field(*(arrays[f"{name}_{part}"] for part in ("starts", "rows", "weights"))) for name in fields
            }
            self.repository = arrays["repository"]
            texts = {
                "question": arrays["sentence"],
                "name_question": arrays["name_words"],
                "commit_question": arrays["subject"],
            }
            # Numbers of equal questions are equal: such pairs are no wrong answers to each other.
            self.keys = {kind: np.unique(asked, return_inverse=True)[1] for kind, asked in texts.items()}
            body = self.fields["body"]
            codes = [body.rows[a:b].tobytes() for a, b in pairwise(body.starts.tolist())]
            self.codes = np.unique(np.array([hash(code) for code in codes]), return_inverse=True)[1]
            known = {kind: np.diff(self.fields[kind].starts) > 0 for kind in texts}
            # A sentence that was asked before is kept as an empty text.
            self._asks = {kind: known[kind] & (asked != "") for kind, asked in texts.items()}

    def asking(self, kind: str) -> np.ndarray:
        """The items that have a question of a kind with a known word."""
        return np.flatnonzero(self._asks[kind])


def pooled(matrix: Tensor, bags: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """The normalised weighted sum of each field's rows."""
    rows, weights, offsets = bags
    return normalize(embedding_bag(rows, matrix, offsets, mode="sum", per_sample_weights=weights), dim=1, eps=1e-9)


def embed_code(
    matrix: Tensor, pairs: Pairs, items: np.ndarray, weights: dict[str, float], kept: dict[str, np.ndarray], body: str
) -> Tensor:
    """The vectors of declarations, each with those of its fields that are kept."""
    total = weights["body"] * pooled(matrix, pairs.fields[body].bags(items))
    for name in ("name", "doc"):
        if name in kept and weights.get(name):
            total = total + weights[name] * pooled(matrix, pairs.fields[name].bags(items, kept[name]))
    return normalize(total, dim=1, eps=1e-9)


class Batches:
    """An endless row of batches: each some groups of pairs of one repository and one kind."""

    def __init__(self, pairs: Pairs, usable: np.ndarray, rng: np.random.Generator) -> None:
        self._rng = rng
        self._groups: dict[str, list[np.ndarray]] = {}
        self._left: dict[str, list[np.ndarray]] = {kind: [] for kind in SHARES}
        self._items = {}
        for kind in self._left:
            asking = pairs.asking(kind)
            asking = asking[usable[asking]]
            names = pairs.repository[asking]
            self._items[kind] = [asking[names == name] for name in np.unique(names)]

    def groups(self, count: int) -> list[tuple[str, np.ndarray]]:
        """So many groups, each with its kind; all pairs come once before any comes again."""
        kinds = self._rng.choice(list(SHARES), count, p=list(SHARES.values()))
        return [(str(kind), self._next(str(kind))) for kind in kinds]

    def _next(self, kind: str) -> np.ndarray:
        if not self._left[kind]:
            shuffled = [self._rng.permutation(items) for items in self._items[kind]]
            cut = [items[i : i + GROUP] for items in shuffled for i in range(0, len(items), GROUP)]
            self._left[kind] = [cut[i] for i in self._rng.permutation(len(cut))]
        return self._left[kind].pop()


def loss_of(matrix: Tensor, pairs: Pairs, batches: Batches, weights: dict[str, float], rng: np.random.Generator):
    """The symmetric InfoNCE of the next batch, and how many questions find their code first."""
    groups = batches.groups(GROUPS)
    asked, codes, keys, bodies = [], [], [], []
    for number, kind in enumerate(SHARES):
        items = np.concatenate([np.zeros(0, np.int64), *(group for of, group in groups if of == kind)])
        # Without its name also means without it in the body, where the signature repeats it.
        dropped = rng.random(len(items)) < (1.0 if kind == "name_question" else NAME_DROPPED)
        for body, part in (("body", items[~dropped]), ("unnamed_body", items[dropped])):
            if not len(part):
                continue
            kept = {"name": np.full(len(part), body == "body")}
            if kind != "question":
                kept["doc"] = rng.random(len(part)) < DOC_KEPT
            asked.append(pooled(matrix, pairs.fields[kind].bags(part)))
            codes.append(embed_code(matrix, pairs, part, weights, kept, body))
            keys.append(pairs.keys[kind][part] * len(SHARES) + number)
            bodies.append(pairs.codes[part])
    scores = torch.cat(asked) @ torch.cat(codes).T / TEMPERATURE
    key = torch.from_numpy(np.concatenate(keys))
    code = torch.from_numpy(np.concatenate(bodies))
    repeated = (key[:, None] == key[None, :]) | (code[:, None] == code[None, :])
    repeated &= ~torch.eye(len(key), dtype=torch.bool)
    scores = scores.masked_fill(repeated, -1e4)
    target = torch.arange(len(key))
    loss = (cross_entropy(scores, target) + cross_entropy(scores.T, target)) / 2
    return loss, float((scores.detach().argmax(dim=1) == target).float().mean())


@torch.no_grad()
def measure(matrix: Tensor, pairs: Pairs, items: np.ndarray, weights: dict[str, float]) -> dict[str, float]:
    """How sentences find their declarations among the items, none of which has its doc."""
    codes = embed_code(matrix, pairs, items, weights, {"name": np.ones(len(items), np.int64)}, "body")
    places = np.flatnonzero(np.isin(items, pairs.asking("question")))
    scores = pooled(matrix, pairs.fields["question"].bags(items[places])) @ codes.T
    right = scores[torch.arange(len(places)), torch.from_numpy(places)]
    ranks = (scores > right[:, None]).sum(dim=1).add(1).numpy()
    return {
        "recall@1": float((ranks <= 1).mean()),
        "recall@10": float((ranks <= 10).mean()),
        "mrr": float((1 / ranks).mean()),
    }


def read_matrix(folder: Path) -> tuple[np.ndarray, list[str], dict[str, object]]:
    """The float matrix, the vocabulary and the configuration of a static model."""
    terms, rows, scale, config = read_files(folder)
    return rows.astype(np.float32) * scale[:, None], terms, config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="file of pairs written by pairs.py")
    parser.add_argument("base", type=Path, help="folder of the distilled model to start from")
    parser.add_argument("model", type=Path, help="folder to write")
    parser.add_argument("--steps", type=int, default=400, help="default: %(default)s")
    parser.add_argument("--rate", type=float, default=4e-3, help="learning rate of Adam (default: %(default)s)")
    parser.add_argument("--version", type=int, default=2, help="version in config.json (default: %(default)s)")
    args = parser.parse_args()

    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    base, terms, config = read_matrix(args.base)
    weights = config["fields"]
    pairs = Pairs(args.pairs)
    held_out = np.isin(pairs.repository, HELD_OUT)
    if not held_out.any():  # another list of repositories: its last one
        held_out = pairs.repository == max(pairs.repository)
    candidates = np.sort(rng.permutation(np.flatnonzero(held_out))[:CANDIDATES])
    batches = Batches(pairs, ~held_out, rng)
    used = sum(int((~held_out)[pairs.asking(kind)].sum()) for kind in SHARES)

    matrix = torch.from_numpy(base.copy()).requires_grad_()
    optimiser = torch.optim.Adam([matrix], lr=args.rate)
    best = measure(matrix, pairs, candidates, weights)
    best_matrix = matrix.detach().clone()
    print(f"{used} pairs; step 0 {shown(best)}", flush=True)
    started = time.monotonic()
    for step in range(1, args.steps + 1):
        part = step / args.steps
        rate = args.rate * min(1, step / WARM_UP) * (1 + np.cos(np.pi * part)) / 2
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss, accuracy = loss_of(matrix, pairs, batches, weights, rng)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if step % MEASURED_EVERY == 0 or step == args.steps:
            now = measure(matrix, pairs, candidates, weights)
            seconds = time.monotonic() - started
            print(f"step {step} loss {loss:.3f} accuracy {accuracy:.3f} {shown(now)} {seconds:.0f} s", flush=True)
            if now["mrr"] > best["mrr"]:
                best, best_matrix = now, matrix.detach().clone()

    config |= {
        "name": args.model.name,
        "version": args.version,
        "source": f"distilled from all-MiniLM-L6-v2, trained on {used} pairs of public code",
    }
    write_model(args.model, terms, best_matrix.numpy(), config)


def shown(measured: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.3f}" for name, value in measured.items())


if __name__ == "__main__":
    main()
