"""Owns measuring what has to be fast, each figure against a limit or a peer of the same run. Never asserts a time."""
