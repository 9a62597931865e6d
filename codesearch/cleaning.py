"""Removes the index, or what nothing in it uses any more: views, segments, and rows of the store.

A view is used while a pointer of a worktree, of the index or of a recent revision leads to it, and so are its
segments and units. A row of the store is used, besides, while git has the blob that it was made from: the branch may
come back. Where that is still too much, only what views show stays. The caller holds the index lock.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Container
from datetime import timedelta
from pathlib import Path

from codesearch.errors import CorruptIndexError
from codesearch.indexing import Workshop, record
from codesearch.results import Cleaned
from codesearch.store import RETENTION
from codesearch.view.published import GRACE_SECONDS, folder_bytes

_PARTS = ("pointers", "views", "segments", "journal", "store", "evaluations")
_MARK = "collected.json"  # how large the index was after the last collection
_GROWTH = 1.25  # since then, before another is worth its time: what is left may all be needed


def remove_index(home: Path, *, dry_run: bool = False) -> Cleaned:
    """Removes all of an index."""
    found = Cleaned(
        folder_bytes(home), _count(home / "views", "*.view"), _count(home / "segments", "*.seg"), dry_run=dry_run
    )
    if not dry_run:
        for name in _PARTS:
            shutil.rmtree(home / name, ignore_errors=True)
        (home / _MARK).unlink(missing_ok=True)
    return found


def collect_garbage(
    shop: Workshop,
    *,
    dry_run: bool = False,
    only_shown: bool = False,
    grace_seconds: float = 0,
    retention: timedelta = timedelta(0),
) -> Cleaned:
    """Removes what is not used; `only_shown` lets go of other branches as well.

    Files younger than the grace time stay, and so do the store's older versions for the time of `retention`.
    """
    views, store, home = shop.views, shop.store, shop.views.home
    views.prepare()
    before = folder_bytes(home)
    if not dry_run:
        record(shop)
    pointers = _outlived(shop)
    rubbish = views.rubbish(grace_seconds, dropped=pointers)
    counted = sum(path.stat().st_size for path in rubbish)
    shown = views.shown_units(dropped=pointers)
    units = texts = 0
    if store.exists():
        blobs: Container[str] = () if only_shown else shop.repository.blobs_here()
        try:
            units, texts = store.retain(lambda key, blob: key in shown or blob in blobs, dry_run=dry_run)
            if not dry_run:
                store.compact(retention)
        except CorruptIndexError:
            store.delete()
    if not dry_run:
        for path in (*(views.pointers / f"{name}.json" for name in pointers), *rubbish):
            path.unlink(missing_ok=True)
        counted = max(before - folder_bytes(home), 0)
    kinds = [path.suffix for path in rubbish]
    return Cleaned(counted, kinds.count(".view"), kinds.count(".seg"), units, texts, dry_run)


def collect_if_large(shop: Workshop, limit: int) -> None:
    """Collects by itself, with time for readers, where the index is larger than `limit` and has grown."""
    home = shop.views.home
    if folder_bytes(home) <= max(limit, _GROWTH * _last_size(home)):
        return
    collect_garbage(shop, grace_seconds=GRACE_SECONDS, retention=RETENTION)
    if folder_bytes(home) > limit:
        collect_garbage(shop, only_shown=True, grace_seconds=GRACE_SECONDS, retention=RETENTION)
    (home / _MARK).write_text(json.dumps({"bytes": folder_bytes(home)}))


def _last_size(home: Path) -> float:
    try:
        return float(json.loads((home / _MARK).read_bytes())["bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def _outlived(shop: Workshop) -> list[str]:
    """Pointers of worktrees that git no longer knows; none without git."""
    keys = shop.repository.worktree_keys()
    return [
        name
        for name in shop.views.pointer_names()
        if keys and not name.startswith("at-") and not any(name == key or name.startswith(f"{key}-") for key in keys)
    ]


def _count(folder: Path, pattern: str) -> int:
    return sum(1 for _ in folder.glob(pattern))
