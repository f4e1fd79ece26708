"""Owns API applications for tests: building one takes a sixth of a second, so each is built once a process and given a
fresh context (service, gates, hub, figures) whenever a test asks for it. Two of one test are two."""

from __future__ import annotations

from fastapi import FastAPI

from jobservice.api.app import create_app
from jobservice.api.context import Bounds, attach, make_context
from jobservice.usecases.service import Service

_built: list[FastAPI] = []
_given: list[FastAPI] = []


def app_over(service: Service, *, signing_key: bytes, schema_version: str, bounds: Bounds | None = None) -> FastAPI:
    """The API over `service`, as `create_app` makes it, for this test."""
    if len(_given) == len(_built):
        _built.append(create_app(service, signing_key=signing_key, schema_version=schema_version, bounds=bounds))
    app = _built[len(_given)]
    _given.append(app)
    context = make_context(service, signing_key=signing_key, schema_version=schema_version, bounds=bounds or Bounds())
    attach(app, context)
    app.state.hub = context.hub
    return app


def give_back() -> None:
    """A test ended: its applications may be another's."""
    _given.clear()
