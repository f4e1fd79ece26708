"""How jobs are laid out: what they run reaches its work through the seam alone, and when they run stands in records alone."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from examples.payments import application
from tests.architecture.tree import ROOT, parsed, python_files

CONTRACT = "What jobs and people run reaches its work through the seam"
WHEN = {"jobservice.rules.rhythms": {"Cron", "Every"}, "jobservice.rules.schedules": {"Schedule", "Misfire"}}
"""What says when a job runs: built from records, by nothing else."""
READ_AGAIN = {"src/jobservice/rules/planning.py"}
"""What reads the text again that was kept of a record."""


def contract() -> Mapping[str, Sequence[str]]:
    """The import contract of what jobs run, as `make check` has it."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (found,) = [each for each in linter["contracts"] if each["name"].startswith(CONTRACT)]
    return dict(found)


def listed(names: Sequence[str]) -> str:
    return "".join(f"    {name}\n" for name in names)


def lint(folder: Path) -> tuple[int, str]:
    """What import-linter says of a copy of the example under the contract of the repository: its exit code and words."""
    stated = contract()
    (folder / "contract.ini").write_text(
        "[importlinter]\nroot_package = examples.payments\ninclude_external_packages = True\n"
        f"[importlinter:contract:jobs]\nname = jobs\ntype = {stated['type']}\n"
        f"source_modules =\n{listed(stated['source_modules'])}forbidden_modules =\n{listed(stated['forbidden_modules'])}"
    )
    command = [str(Path(sys.executable).with_name("lint-imports")), "contract.ini", "--no-cache"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.requirement("exclude-direct-storage-and-http-execution", "dispatch-application-behavior")
def test_a_job_that_reaches_past_the_seam_is_caught(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", "sample"))
    statements = tmp_path / "examples" / "payments" / "statements.py"
    statements.write_text(f"{statements.read_text()}\nfrom examples.payments.bank import client as _client\n")
    settlement = tmp_path / "examples" / "payments" / "settlement.py"
    settlement.write_text(f"{settlement.read_text()}\nimport sqlalchemy as _sqlalchemy\n")
    code, said = lint(tmp_path)
    assert code == 1
    caught = set(re.findall(r"(\S+) is not allowed to import (\S+):", said))
    assert caught >= {("examples.payments.statements", "httpx"), ("examples.payments.settlement", "sqlalchemy")}, said
    assert {module for module, _ in caught} == {"examples.payments.statements", "examples.payments.settlement"}


AT_THE_PORT = "examples.payments.bank_files"
"""Steps that give a file to the bank and ask after it: their port is the bank's client, as that of an outward use case is."""


@pytest.mark.requirement("exclude-direct-storage-and-http-execution", "place-handlers-with-owned-behavior")
def test_every_function_of_the_example_stands_in_a_module_of_that_contract() -> None:
    functions = [*application.use_cases.values(), *application.selections.values()]
    functions += [rule.function for rule in application.rules.values()]
    functions += [step.function for step in application.steps.values() if callable(step.function)]
    functions += application.failure_effects.values()
    modules = {function.__module__ for function in functions}
    assert modules - {AT_THE_PORT} == set(contract()["source_modules"])


@pytest.mark.requirement("separate-schedule-definitions")
def test_when_a_job_runs_is_built_from_records_alone() -> None:
    files = python_files("src", "examples")
    built = {
        str(path.relative_to(ROOT))
        for path in files
        if any(each in path.read_text() for each in WHEN) and _builds(path)
    }
    assert {name for name in built if name.startswith("src/jobservice/records/")}
    assert {name for name in built if not name.startswith("src/jobservice/records/")} <= READ_AGAIN


def _builds(path: Path) -> bool:
    """Whether a module calls what it imported to say when something runs."""
    tree = parsed(path)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in WHEN.get(node.module or "", ())
    }
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in imported for called in calls)
