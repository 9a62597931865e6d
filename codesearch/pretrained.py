"""Loads models of sentence-transformers by folder or name: safetensors only, and no code that comes with a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codesearch.errors import ModelError


def load_pretrained(name: str, class_name: str) -> Any:
    """A model as the class of sentence-transformers that is named (SentenceTransformer, CrossEncoder).

    Folders and cached models come first; only a name that is not on this machine makes sentence-transformers ask its
    hub (never with HF_HUB_OFFLINE=1). ModelError when the model or the library is missing, damaged or not safe.
    """
    folder = Path(name)
    if folder.is_dir():
        _refuse_custom_modules(folder)
    try:
        # Imported here: it loads torch, which takes seconds and half a gigabyte.
        import sentence_transformers
    except ImportError as error:
        raise ModelError(
            f"The model {name} needs sentence-transformers, which is not installed.",
            hint="Run: pip install 'codesearch[transformers]'",
        ) from error
    make = getattr(sentence_transformers, class_name)

    def load(*, local: bool) -> Any:
        return make(name, trust_remote_code=False, local_files_only=local, model_kwargs={"use_safetensors": True})

    try:
        with _quiet():
            try:
                return load(local=True)
            except (OSError, ValueError):
                if folder.is_dir():
                    raise
                return load(local=False)
    except Exception as error:  # transformers raises nearly every type for a model it cannot read
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"The model {name} cannot be loaded: {reason}",
            hint=f"Give the folder of a sentence-transformers model ({class_name}) with safetensors weights, "
            "or its name.",
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars and no reports of loaded weights on stderr; what matters becomes a ModelError."""
    from transformers.utils import logging as transformers_logging

    reports: Any = transformers_logging  # partly without types
    converts = logging.getLogger("sentence_transformers")
    bars, level, level_of_converts = reports.is_progress_bar_enabled(), reports.get_verbosity(), converts.level
    reports.disable_progress_bar()
    reports.set_verbosity_error()
    converts.setLevel(logging.ERROR)
    try:
        yield
    finally:
        converts.setLevel(level_of_converts)
        reports.set_verbosity(level)
        if bars:
            reports.enable_progress_bar()


def _refuse_custom_modules(folder: Path) -> None:
    """Raises ModelError for a model whose modules are Python files of its own; loading would run them."""
    listing = folder / "modules.json"
    try:
        modules = json.loads(listing.read_bytes()) if listing.is_file() else []
        types = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{listing} cannot be read: {error}.", hint="Give another folder.") from error
    for each in types:
        if not each.startswith("sentence_transformers."):
            raise ModelError(
                f"The model in {folder} brings its own code ({each}), which codesearch never runs.",
                hint="Choose a model whose modules are part of sentence-transformers.",
            )
