"""Writes the folder of a static model: what codesearch reads, and what sentence-transformers needs to read it, too.

sentence-transformers runs no module class of another package without `trust_remote_code`, so the model is described
in its own words: its StaticEmbedding multiplies int8 `embeddings` with a float per token, and the rules of
codesearch.terms and of unknown words are written down as a tokenizer. Nothing is stored twice but the word list.

`python training/export.py FOLDER` writes the files of an existing model again; its rows stay what they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codesearch.diagnosis import SUMS
from codesearch.embedding import _LONGEST_UNKNOWN, _SHORTEST_PIECE, _UNASKED
from codesearch.terms import _LONGEST_IDENTIFIER, WHOLE

# A question word counts only where nothing else does. StaticEmbedding knows no such rule, but vectors are scaled to
# length 1 in the end: so light a word is nothing beside others, and all when it is alone.
_UNASKED_WEIGHT = 2.0**-20
UNASKED_MARK = f"{WHOLE}0"  # before a question word that is a whole word; as a piece of another it counts
UNKNOWN = "<unknown>"  # the token of letters that no term covers; no text gives these letters

_UPPER, _LOWER, _DIGIT = r"\p{Lu}", r"\p{Ll}", r"\p{Nd}²³¹⁰-⁹₀-₉"
_OTHER = rf"[^{_UPPER}{_LOWER}{_DIGIT} ]"
# Where codesearch.terms splits an identifier: after small letters, capitals, digits and letters without case, and
# before the last capital of an acronym (HTTP|Response).
_BORDER = "|".join(
    [
        rf"(?<=[{_LOWER}])(?=[^{_LOWER} ])",
        rf"(?<=[{_UPPER}])(?=[^{_UPPER}{_LOWER} ])",
        rf"(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}])",
        rf"(?<=[{_DIGIT}])(?=[^{_DIGIT} ])",
        rf"(?<={_OTHER})(?=[{_UPPER}{_LOWER}{_DIGIT}])",
    ]
)


def write_files(folder: Path, terms: list[str], rows: np.ndarray, scale: np.ndarray, config: dict[str, object]) -> None:
    """Writes all files of a model, int8 rows and the scale of each."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    tokens = _tokens(terms)
    used = np.array([row for row, _, _ in tokens], np.int32)
    tensors = {
        "embeddings": np.ascontiguousarray(rows),
        "scale": scale,
        # For sentence-transformers alone: the row of each token and its factor.
        "mapping": used,
        "weights": scale[used] * np.array([weight for _, _, weight in tokens], np.float32),
    }
    (folder / "model.safetensors").write_bytes(save(tensors))
    (folder / "vocabulary.txt").write_text("".join(term + "\n" for term in terms), "utf-8")
    _write_json(folder / "config.json", config)

    (folder / "tokenizer.json").write_text(tokenizer_of(terms), "utf-8")
    modules = [
        ("", "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"),
        ("1_Normalize", "sentence_transformers.base.modules.normalize.Normalize"),
    ]
    _write_json(
        folder / "modules.json",
        [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(modules)],
    )
    _write_json(
        folder / "config_sentence_transformers.json",
        {
            "model_type": "SentenceTransformer",
            "similarity_fn_name": "cosine",
            "requirements": {"sentence-transformers": {"specifier": ">=6.2", "reason": "It reads int8 rows."}},
        },
    )
    write_sums(folder)


def write_sums(folder: Path) -> None:
    """Writes what `codesearch doctor` and `sha256sum --check` compare the other files with."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines), "ascii")


def tokenizer_of(terms: list[str]) -> str:
    """A tokenizer.json that splits a text into the terms that StaticEmbedder.embed_query adds, in order."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import Unigram

    # The best reading of a word has the largest sum of scores: the squared lengths, times two. A letter that no term
    # covers costs ten less than the smallest score, which is that of UNKNOWN: nothing.
    tokens = [token for _, token, _ in _tokens(terms)]
    scores = [(token, 10.0 if token == UNKNOWN else 2.0 * len(token) ** 2) for token in tokens]
    tokenizer = Tokenizer(Unigram(scores, tokens.index(UNKNOWN), False))
    end = "(?![^ ])"
    steps = [
        (r"[^\p{L}\p{N}_]+", " "),
        (rf" [^ ]{{{_LONGEST_IDENTIFIER + 1},}}", ""),
        ("_+", " "),
        (_BORDER, " "),
        (rf" (?:[A-Za-z]|[^ ]{{{_LONGEST_UNKNOWN + 1},}}){end}", ""),
    ]
    unasked = "|".join(sorted(word for word in _UNASKED if len(word) >= _SHORTEST_PIECE))
    steps.append((rf" (?=(?i:{unasked}){end})", f" {UNASKED_MARK}"))
    # Marks differ by length, so that the term 12 is not read in the number 123.
    for mark, length in sorted({(_mark(term), len(term)) for term in terms if _mark(term)}):
        letter = "[^ ]" if length < _SHORTEST_PIECE else f"[{_DIGIT}]"
        steps.append((rf" (?={letter}{{{length}}}{end})", f" {mark}"))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Prepend(" "),  # a word is what follows a space
            *(normalizers.Replace(Regex(pattern), to) for pattern, to in steps),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer.to_str(pretty=False)


def _tokens(terms: list[str]) -> list[tuple[int, str, float]]:
    """The row, text and weight of every token: the terms, UNKNOWN, and question words once more, as whole words."""
    light = [_UNASKED_WEIGHT if term in _UNASKED and _mark(term) else 1.0 for term in terms]
    plain = [(row, _mark(term) + term, weight) for row, (term, weight) in enumerate(zip(terms, light, strict=True))]
    again = [
        (row, UNASKED_MARK + term, _UNASKED_WEIGHT)
        for row, term in enumerate(terms)
        if term in _UNASKED and not _mark(term)
    ]
    return [*plain, (0, UNKNOWN, 0.0), *again]


def _mark(term: str) -> str:
    """What stands before a term that is only read as a whole word, never as a piece of one."""
    return f"{WHOLE}{len(term)}" if len(term) < _SHORTEST_PIECE or term.isdigit() else ""


def read_files(folder: Path) -> tuple[list[str], np.ndarray, np.ndarray, dict[str, object]]:
    """The terms, int8 rows, scales and configuration of a model."""
    from safetensors.numpy import load_file

    tensors = load_file(folder / "model.safetensors")
    rows = tensors["rows"] if "rows" in tensors else tensors["embeddings"]  # `rows`: a name of the past
    terms = (folder / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    return terms, rows, tensors["scale"], json.loads((folder / "config.json").read_text("utf-8"))


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of a static model")
    folder = parser.parse_args().model
    write_files(folder, *read_files(folder))


if __name__ == "__main__":
    main()
