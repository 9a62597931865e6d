"""The JSON that scripts and agents rely on. Adding a key is fine; renaming one would be schema 2.

Paths are relative to the repository's root and `/`-separated, whatever folder the command ran in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from codesearch.results import (
    Cleaned,
    ExplainedHit,
    Explanation,
    FileOutline,
    HooksStatus,
    IndexReport,
    LanguageInfo,
    Shown,
    Similar,
    Status,
)
from codesearch.types import Hit, SearchResult, Skipped

SCHEMA = 1
Document = dict[str, Any]


def to_json(document: Document) -> str:
    """One line of ASCII: control characters, bidirectional marks and non-UTF-8 names come out escaped."""
    return json.dumps(document, separators=(", ", ": ")).replace("\x7f", "\\u007f")  # DEL: json leaves it raw


def search_document(result: SearchResult) -> Document:
    """A search as one document; `hits` is empty when nothing was found."""
    return {
        "schema": SCHEMA,
        "query": result.query,
        "snapshot": asdict(result.snapshot),
        "took_ms": round(float(result.took_ms), 1),
        "hits": [hit_document(hit) for hit in result.hits],
    }


def hit_document(hit: Hit) -> Document:
    """One hit; in `--jsonl` a line of its own.

    `snippet` is an excerpt: a few lines of the hit joined by LF, the first of them line `snippet_start_line`.
    """
    return {
        "rank": hit.rank,
        "score": round(float(hit.score), 4),
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "symbol": hit.symbol,
        "qualified_name": hit.qualified_name,
        "kind": hit.kind.value,
        "language": hit.language,
        "signature": hit.signature,
        "snippet": "\n".join(line.rstrip("\r\n") for line in hit.snippet.lines),
        "snippet_start_line": hit.snippet.start_line,
        "commit": hit.commit,
        "signals": {name: round(float(value), 4) for name, value in hit.signals.items()} | _reranked(hit),
        "copies": [asdict(copy) for copy in hit.copies],
    }


def _reranked(hit: Hit) -> Document:
    if hit.reranked is None:
        return {}
    score = {} if hit.reranked.score is None else {"rerank_score": hit.reranked.score}
    return {**score, "rank_before": hit.reranked.rank_before, "rank_after": hit.rank}


def similar_document(similar: Similar) -> Document:
    """What is most like a declaration: that, its copies, and the hits."""
    declaration = shown_document(similar.declaration)
    del declaration["text"]
    return {
        **declaration,
        "copies": [asdict(copy) for copy in similar.copies],
        "hits": [hit_document(hit) for hit in similar.hits],
    }


def explanation_document(explanation: Explanation) -> Document:
    """A search with how it was read; `signals` of a hit are weighed, `measured` are their values before that."""
    expected = explanation.expected
    return {
        **search_document(explanation.result),
        "filters": {name: value for name, value in asdict(explanation.filters).items() if value not in ((), None)},
        "form": explanation.form,
        "terms": [asdict(term) for term in explanation.terms],
        "names": list(explanation.names),
        "hits": [_explained_document(each) for each in explanation.hits],
        "expected": expected
        and {
            "location": expected.location,
            "place": expected.place,
            "reasons": list(expected.reasons),
            "hit": expected.explained and _explained_document(expected.explained),
            "against": [{"signal": name, "own": own, "other": other} for name, own, other in expected.against],
        },
    }


def _explained_document(explained: ExplainedHit) -> Document:
    values = {name: value for name, value in asdict(explained).items() if name != "hit"}
    return {**hit_document(explained.hit), **values}


def index_document(report: IndexReport) -> Document:
    """What an index run did, with a reason for every skipped file."""
    return {
        "schema": SCHEMA,
        "commit": report.commit,
        "files": asdict(report.files),
        "declarations": asdict(report.declarations),
        "skipped": _skipped(report.skipped),
        "seconds": round(float(report.seconds), 3),
    }


def status_document(status: Status) -> Document:
    """The state of the index beside the state of the repository."""
    return {
        "schema": SCHEMA,
        "commit": status.commit,
        "ref": status.ref,
        "dirty": status.dirty,
        "index_commit": status.index_commit,
        "behind": status.behind,
        "files": status.files,
        "declarations": status.declarations,
        "chunks": status.chunks,
        "skipped": _skipped(status.skipped),
        "model": status.model,
        "store_bytes": status.store_bytes,
        "view_bytes": status.view_bytes,
    }


def outline_document(files: Sequence[FileOutline]) -> Document:
    """Declarations per file in order of start; `parent` is an index into the same list, or null."""
    return {
        "schema": SCHEMA,
        "files": [
            {
                "path": file.path,
                "language": file.language,
                "declarations": [
                    {
                        "symbol": declaration.symbol,
                        "qualified_name": declaration.qualified_name,
                        "kind": declaration.kind.value,
                        "start_line": declaration.span.start_line,
                        "end_line": declaration.span.end_line,
                        "signature": declaration.signature,
                        "parent": declaration.parent if declaration.parent >= 0 else None,
                    }
                    for declaration in file.declarations
                ],
            }
            for file in files
        ],
    }


def shown_document(shown: Shown) -> Document:
    """One declaration or line range; `text` is its lines joined by LF. `kind` is null for lines that are none."""
    return {
        "schema": SCHEMA,
        "path": shown.path,
        "start_line": shown.start_line,
        "end_line": shown.end_line,
        "symbol": shown.symbol,
        "qualified_name": shown.qualified_name,
        "kind": shown.kind.value if shown.kind else None,
        "language": shown.language,
        "signature": shown.signature,
        "text": "\n".join(line.rstrip("\r\n") for line in shown.lines),
    }


def languages_document(languages: Sequence[LanguageInfo]) -> Document:
    """Every language; `files` and `declarations` are null where nothing is indexed."""
    return {
        "schema": SCHEMA,
        "languages": [
            {
                "name": language.name,
                "extensions": list(language.extensions),
                "filenames": list(language.filenames),
                "kinds": [kind.value for kind in language.kinds],
                "files": language.files,
                "declarations": language.declarations,
            }
            for language in languages
        ],
    }


def clean_document(cleaned: Cleaned) -> Document:
    """What `clean` removed, or would remove."""
    removed = {name: getattr(cleaned, name) for name in ("views", "segments", "units", "texts")}
    return {"schema": SCHEMA, "freed_bytes": cleaned.freed_bytes, "removed": removed, "dry_run": cleaned.dry_run}


def hooks_document(status: HooksStatus) -> Document:
    """The hooks of a clone; `to_add` of one is null unless it lies in the work tree and lacks our line."""
    return {
        "schema": SCHEMA,
        "folder": status.folder,
        "kind": status.kind.value,
        "hooks": [{**asdict(hook), "state": hook.state.value} for hook in status.hooks],
        "pending": status.pending,
        "last_error": status.last_error,
    }


def _skipped(skipped: Sequence[Skipped]) -> list[Document]:
    return [{"path": each.path, "reason": each.reason.value} for each in skipped]
