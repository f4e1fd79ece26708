"""Owns how values of the service are shown, without a terminal."""
