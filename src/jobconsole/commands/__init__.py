"""Owns what a person can do in the console, as data."""
