"""Owns reusable parts of screens; none of them talks to the service."""
