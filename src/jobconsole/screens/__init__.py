"""Owns one screen a file, its style beside it."""
