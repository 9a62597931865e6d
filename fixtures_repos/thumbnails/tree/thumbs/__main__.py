"""Command line of the service."""

import argparse
from pathlib import Path

from thumbs.cache import DiskCache
from thumbs.server import ThumbnailHandler

DEFAULT_CAPACITY = 512 * 1024 * 1024  # bytes


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Options of `python -m thumbs`."""
    parser = argparse.ArgumentParser(prog="thumbs")
    parser.add_argument("--listen", default="127.0.0.1:8070", metavar="HOST:PORT")
    parser.add_argument("--cache", type=Path, default=Path("/var/cache/thumbs"))
    parser.add_argument("--capacity", type=int, default=DEFAULT_CAPACITY)
    return parser.parse_args(arguments)


def main() -> None:
    """Builds the handler and serves until interrupted."""
    options = parse_arguments()
    handler = ThumbnailHandler(DiskCache(options.cache, options.capacity))
    print(f"serving on {options.listen} with {handler.cache.capacity} bytes of cache")


if __name__ == "__main__":
    main()
