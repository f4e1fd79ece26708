"""Owns how tests of records read files: each text is parsed once a test process."""

from __future__ import annotations

from tests import parsed

parsed.share()
