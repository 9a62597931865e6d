"""Git-aware semantic code search that answers with whole declarations, exactly cited, offline."""

from codesearch.version import __version__ as __version__


def __getattr__(name: str) -> object:
    """Loads the engine when it is asked for: `import codesearch` alone costs nothing."""
    if name == "Engine":
        from codesearch.engine import Engine

        return Engine
    raise AttributeError(f"module 'codesearch' has no attribute {name!r}")
