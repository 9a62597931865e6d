"""Turns the content of one file into chunks. Reads no files, knows no git, no paths and no model.

Three doors, one for each sort of file: `chunk_code` for what has a grammar, `chunk_prose` for Markdown and
plain text, `chunk_text` for everything else. Equal arguments give equal chunks.
"""

from codesearch.chunking.budget import TokenBudget
from codesearch.chunking.code import chunk_code
from codesearch.chunking.prose import chunk_prose
from codesearch.chunking.text import chunk_text

CHUNKER_VERSION = 1  # part of every stored key that depends on where chunks begin and end or on their fields

__all__ = ["CHUNKER_VERSION", "TokenBudget", "chunk_code", "chunk_prose", "chunk_text"]
