"""Thumbnails for uploaded pictures: decode, fit, cache, serve."""

__version__ = "0.1.0"
