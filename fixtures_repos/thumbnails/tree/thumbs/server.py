"""Answers HTTP requests with thumbnails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from thumbs.cache import DiskCache
from thumbs.errors import PictureTooLarge, ThumbError
from thumbs.formats import sniff
from thumbs.geometry import fit_within, parse_size
from thumbs.names import content_digest

MAX_PIXELS = 60_000_000  # a 60-megapixel camera; decoded, such a picture takes 240 MB


@dataclass
class Response:
    """Status, content type and body of an answer."""

    status: HTTPStatus
    content_type: str
    body: bytes

    @classmethod
    def failure(cls, error: ThumbError) -> Response:
        """A failure as JSON with its code."""
        return cls(HTTPStatus.BAD_REQUEST, "application/json", json.dumps(error.as_payload()).encode())


class ThumbnailHandler:
    """Handles one request at a time; holds the cache."""

    def __init__(self, cache: DiskCache) -> None:
        self.cache = cache

    def handle(self, url: str, picture: bytes) -> Response:
        """Checks the picture, then answers from the cache or computes the thumbnail."""
        query = parse_qs(urlsplit(url).query)
        wanted = parse_size(query["size"][0]) if "size" in query else None
        try:
            size = sniff(picture)(picture)
            self._check_limits(size.width, size.height)
        except ThumbError as error:
            return Response.failure(error)
        digest = content_digest(picture)
        cached = self.cache.get(digest)
        if cached is None:
            target = fit_within(size, wanted.width if wanted else 320)
            cached = f"{target.width}x{target.height}".encode()
            self.cache.put(digest, "webp", cached)
        return Response(HTTPStatus.OK, "image/webp", cached)

    @staticmethod
    def _check_limits(width: int, height: int) -> None:
        """Refuses decompression bombs before anything is decoded."""
        if width * height > MAX_PIXELS:
            raise PictureTooLarge(width, height, MAX_PIXELS)
