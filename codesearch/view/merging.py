"""Merges segments by copying and renumbering their arrays; nothing is parsed, counted or embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.view.segment import Segment
from codesearch.view.strings import concatenate


def merge_segments(parts: Sequence[tuple[Segment, NDArray[np.bool_] | None]]) -> Segment:
    """One segment of the units of several; the mask of each says which units to keep (None: all)."""
    model_ids = {segment.model_id for segment, _ in parts}
    if len(model_ids) != 1:
        raise ValueError(f"segments of different models cannot be merged: {sorted(model_ids)}")
    languages: dict[str, int] = {}
    units, declarations, chunks, pools = [], [], [], []
    hashes, term_pools, ranks, owners, fields, counts, codes, scales = [], [], [], [], [], [], [], []
    chunk_base = declaration_base = string_base = term_base = 0
    for segment, mask in parts:
        keep = np.ones(len(segment.units), bool) if mask is None else mask
        kept = segment.units[keep].copy()
        renamed = [languages.setdefault(name, len(languages)) for name in segment.languages]
        kept["language"] = np.array([*renamed, 0], np.uint8)[np.minimum(kept["language"], len(renamed))]
        kept["first_chunk"] = chunk_base + _starts(kept["chunks"])
        kept["first_declaration"] = declaration_base + _starts(kept["declarations"])
        units.append(kept)
        keep_declaration = np.repeat(keep, segment.units["declarations"])
        some = segment.declarations[keep_declaration].copy()
        used, inverse = np.unique(
            np.concatenate([some["symbol"], some["qualified"], some["signature"]]), return_inverse=True
        )
        some["symbol"], some["qualified"], some["signature"] = inverse.reshape(3, -1) + string_base
        declarations.append(some)
        pools.append(segment.strings.take(used.astype(np.intp)))
        keep_chunk = np.repeat(keep, segment.units["chunks"])
        chunks.append(segment.chunks[keep_chunk])
        codes.append(segment.codes[keep_chunk])
        scales.append(segment.scales[keep_chunk])
        keep_posting = keep_chunk[segment.posting_chunk]
        new_chunk = np.cumsum(keep_chunk, dtype=np.int64) - 1 + chunk_base
        term_of_posting = np.repeat(
            np.arange(len(segment.term_hashes), dtype=np.int64),
            np.diff(segment.term_offsets.astype(np.int64)).astype(np.int64),
        )
        hashes.append(segment.term_hashes)
        term_pools.append(segment.term_strings)
        ranks.append(term_of_posting[keep_posting] + term_base)
        owners.append(new_chunk[segment.posting_chunk[keep_posting]].astype(np.uint32))
        fields.append(segment.posting_field[keep_posting])
        counts.append(segment.posting_count[keep_posting])
        chunk_base += len(chunks[-1])
        declaration_base += len(some)
        string_base += len(used)
        term_base += len(segment.term_hashes)
    all_hashes = np.concatenate(hashes)
    unique, first, inverse = np.unique(all_hashes, return_index=True, return_inverse=True)
    posting_rank = inverse[np.concatenate(ranks)].astype(np.uint32)
    occurring = np.bincount(posting_rank, minlength=len(unique))
    present = occurring > 0  # terms of dropped units only
    posting_rank = (np.cumsum(present) - 1).astype(np.uint32)[posting_rank]
    order = np.argsort(posting_rank, kind="stable")
    offsets = np.zeros(int(present.sum()) + 1, np.uint32)
    np.cumsum(occurring[present], out=offsets[1:])
    return Segment(
        languages=tuple(languages),
        model_id=model_ids.pop(),
        units=np.concatenate(units),
        declarations=np.concatenate(declarations),
        chunks=np.concatenate(chunks),
        strings=concatenate(pools),
        term_hashes=unique[present],
        term_strings=concatenate(term_pools).take(first[present]),
        term_offsets=offsets,
        posting_chunk=np.concatenate(owners)[order],
        posting_field=np.concatenate(fields)[order],
        posting_count=np.concatenate(counts)[order],
        codes=np.concatenate(codes),
        scales=np.concatenate(scales),
    )


def _starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    ends: NDArray[np.int64] = np.cumsum(counts, dtype=np.int64)
    return np.asarray(ends - counts, np.int64)
