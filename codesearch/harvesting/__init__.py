"""Makes cases from a repository itself: its doc comments, and what its commits say about the code that they changed.

Both are as noisy as people's words are: they compare two ways of searching, they do not grade one.
"""

from codesearch.harvesting.commits import from_history
from codesearch.harvesting.docs import from_docs

__all__ = ["from_docs", "from_history"]
