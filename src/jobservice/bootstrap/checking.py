"""Owns `jobservice check`: a folder of records, compared with the application that registers their use cases."""

from __future__ import annotations

from pathlib import Path

from jobservice import records
from jobservice.application import Application
from jobservice.bootstrap.process import load_application
from jobservice.records import Report
from jobservice.settings import StartRefused

ATTRIBUTE = "application"


def check_records(folder: Path, application: str | None) -> Report:
    """The report on `folder`; StartRefused where there is no such folder, or the named application cannot be loaded."""
    if not folder.is_dir():
        raise StartRefused(f"{folder} is not a folder of records.")
    if application is not None:
        return records.report(folder, load_application(application))
    return records.report(folder, _neighbour(folder))


def _neighbour(folder: Path) -> Application | None:
    """The application whose package holds `folder`, seen from the working directory; None where there is none."""
    package = folder.resolve().parent
    try:
        parts = package.relative_to(Path.cwd()).parts
    except ValueError:
        return None
    if not (package / "__init__.py").exists() or not all(part.isidentifier() for part in parts):
        return None
    application = load_application(f"{'.'.join(parts)}:{ATTRIBUTE}")
    return application if application.records.resolve() == folder.resolve() else None
