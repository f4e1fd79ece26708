"""Starts the service's command line: `jobservice ...` or `python -m jobservice ...`."""

from __future__ import annotations

from jobservice.cli import commands


def main() -> None:
    """Run the command that was typed; exit code 1 with a sentence where it is refused, 2 where it is mistyped."""
    commands(prog_name="jobservice")


if __name__ == "__main__":
    main()
