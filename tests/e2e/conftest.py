"""Gives the end-to-end tests one running demo: real PostgreSQL, API and Worker as processes of their own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jobconsole.client.service import Service
from jobconsole.client.wiring import Times
from jobconsole.demo_service import DemoService, temporary_folder


@pytest.fixture(scope="package")
def demo() -> Iterator[DemoService]:
    """The demo of these tests, in a folder of its own."""
    folder = temporary_folder()
    try:
        service = DemoService.start(data=folder / "demo")
        try:
            yield service
        finally:
            service.stop()
    finally:
        shutil.rmtree(folder)


@pytest.fixture
async def sign_in(demo: DemoService) -> Any:
    """`sign_in(person, url=..., **times)`: a connection to the demo, closed after the test."""
    made: list[Service] = []

    def connect(person: str, *, url: str | None = None, **times: float) -> Service:
        service = Service(url or demo.url, demo.person(person).token, "leeds", times=Times(**times))  # type: ignore[arg-type]  # tries stays whole
        made.append(service)
        return service

    yield connect
    for service in made:
        await service.close()


SignIn = Callable[..., Service]
