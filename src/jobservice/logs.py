"""Owns what a service process writes to stderr: one JSON object a line, times in UTC, no secret in any of them."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

HIDDEN = "***"
_SECRETS = (
    (re.compile(r"jc_[A-Za-z0-9_-]{8,}"), f"jc_{HIDDEN}"),
    (re.compile(r"(\w+://[^\s:@/]*):[^\s@]*@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(?i)(password\s*=\s*)('[^']*'|\S+)"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(bearer\s+)\S+"), rf"\1{HIDDEN}"),
)
_SECRET_NAMES = frozenset({"token", "password", "authorization", "secret", "database_url"})


def configure(*, level: int = logging.INFO) -> None:
    """Send structlog's and every library's log lines to stderr as JSON. The pool's own retries stay silent: whoever
    needs the database says so itself, once an interval."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                hide_secrets,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for noisy, least in (
        ("psycopg.pool", logging.ERROR),
        ("uvicorn", logging.WARNING),
        ("alembic", logging.WARNING),
        ("httpx", logging.WARNING),
    ):
        logging.getLogger(noisy).setLevel(least)


def hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The event without anything that looks like a token or a password, at any depth."""
    return {key: _without_secrets(key, value) for key, value in event.items()}


def _without_secrets(key: str, value: Any) -> Any:
    if key.lower() in _SECRET_NAMES:
        return HIDDEN
    if isinstance(value, str):
        for pattern, instead in _SECRETS:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, dict):
        return {inner: _without_secrets(str(inner), found) for inner, found in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(key, found) for found in value]
    return value if isinstance(value, int | float | None) else _without_secrets(key, str(value))
