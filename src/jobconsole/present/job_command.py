"""Owns the headless command that submits a job, written with what was typed so far. Pure; runs nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from jobconsole.present.equivalent import UNSAID


def submit_command(
    kind: str, options: Mapping[str, str], inputs: Mapping[str, str], where: Mapping[str, str] | None = None
) -> str:
    """`jobconsole jobs submit reports.rebuild --identity T-1 --input year=2026`; an identity that is missing is a gap."""
    parts = ["jobconsole", "jobs", "submit", shlex.quote(kind)]
    identity = options.get("identity", "").strip()
    parts += ["--identity", shlex.quote(identity) if identity else UNSAID]
    for name, value in options.items():
        if name != "identity" and value.strip():
            parts += [f"--{name}", shlex.quote(value)]
    for name, value in inputs.items():
        parts += ["--input", shlex.quote(f"{name}={value}")]
    for name, value in (where or {}).items():
        parts += [f"--{name}", shlex.quote(value)]
    return " ".join(parts)
