"""Owns parsing record files once a test process: hundreds of tests read the same files, each would parse them anew.

What is shared is the tree of one text, which nothing can change; what is refused is parsed, and refused, each time.
Tests of the parser itself call the parser.
"""

from __future__ import annotations

from functools import cache

from jobservice.records import reading, yaml


def share() -> None:
    """From now on in this process."""
    reading.parse = cache(yaml.parse)  # type: ignore[attr-defined]  # there is no seam for it
