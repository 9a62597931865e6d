"""Merges keyword and meaning scores into one. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codesearch.queries import Form

# The share of keywords by the form of the query: an identifier is meant literally, a question is not.
KEYWORD_SHARE = {Form.IDENTIFIER: 0.7, Form.COMMAND: 0.45, Form.PHRASE: 0.45, Form.QUESTION: 0.45}


def fuse(words: NDArray[np.float64], meaning: NDArray[np.float64], form: Form) -> NDArray[np.float64]:
    """A weighted mean of both scores, each of which is at most 1; negative similarity counts as none."""
    share = KEYWORD_SHARE[form]
    return share * words + (1 - share) * np.maximum(meaning, 0.0)
