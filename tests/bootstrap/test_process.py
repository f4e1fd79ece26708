"""What every process does before it works: its application, its records, its settings, each wrong one a sentence."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from jobservice.application import Application
from jobservice.bootstrap.api import Listening
from jobservice.bootstrap.process import load_application, load_records, parse_overrides, reach
from jobservice.settings import ProcessSettings, StartRefused

SMALL = "tests.bootstrap.small_application:application"


def test_the_application_is_found_and_its_records_are_right() -> None:
    application = load_application(SMALL)
    records = load_records(application, {"claims.lease": "PT2S"})
    assert records.settings.claims_lease == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("examples.payments", "form module:attribute"),
        (":x", "form module:attribute"),
        ("no.such:application", "no module no here"),
        ("tests.bootstrap.small_application:nothing", "no Application called nothing"),
        ("tests.bootstrap.small_application:use_cases", "no Application called use_cases"),
    ],
)
def test_an_application_that_cannot_be_loaded(name: str, said: str) -> None:
    with pytest.raises(StartRefused, match=said):
        load_application(name)


def test_records_with_findings_start_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: queue\n")
    with pytest.raises(StartRefused, match=r"broken\.yaml") as refused:
        load_records(Application("broken", tmp_path), {})
    assert "nothing was started" in refused.value.sentences[-1]


@pytest.mark.parametrize("override", [{"claims.lease": "soon"}, {"claims.leese": "PT2S"}, {"claims.lease": "PT0S"}])
def test_a_setting_of_one_process_is_checked_like_its_record(override: dict[str, str]) -> None:
    with pytest.raises(StartRefused, match=next(iter(override))):
        load_records(load_application(SMALL), override)


@pytest.mark.parametrize("assignment", ["claims.lease", "=PT2S", "claims.lease=", "="])
def test_an_override_needs_both_sides(assignment: str) -> None:
    with pytest.raises(StartRefused, match="id=value"):
        parse_overrides([assignment])


def test_every_missing_variable_is_named() -> None:
    with pytest.raises(StartRefused) as refused:
        ProcessSettings.read({"JOBSERVICE_DEPLOYMENT": "x", "JOBSERVICE_KEYRING": ""}, keyring=True)
    assert [sentence.split()[0] for sentence in refused.value.sentences] == [
        "JOBSERVICE_DATABASE_URL",
        "JOBSERVICE_APPLICATION",
        "JOBSERVICE_KEYRING",
    ]


def test_the_settings_do_not_show_the_address_of_the_database() -> None:
    settings = ProcessSettings(database_url="postgresql://a:s3cret@h/d", application="a:b", deployment="x")
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])  # noqa: S104  # what is refused
def test_tokens_do_not_cross_a_network_in_clear(host: str) -> None:
    with pytest.raises(StartRefused, match="must not travel in clear"):
        Listening(host=host).check()
    Listening(host=host, behind_tls_proxy=True).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_tls(host: str) -> None:
    Listening(host=host).check()


def test_tls_needs_both_files(tmp_path: Path) -> None:
    (tmp_path / "cert").touch()
    with pytest.raises(StartRefused, match="both"):
        Listening(host="::", certificate=tmp_path / "cert").check()
    with pytest.raises(StartRefused, match="is not a file"):
        Listening(host="::", certificate=tmp_path / "cert", key=tmp_path / "key").check()


async def test_a_database_that_cannot_be_reached_is_a_sentence_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="cannot be reached") as refused:
        await reach(f"postgresql://a:s3cret@/d?host={tmp_path}")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(StartRefused, match="cannot be reached") as refused:
        await reach("nonsense s3cret")
    assert "s3cret" not in str(refused.value)


def test_no_core_file_is_written() -> None:
    code = "import resource; from jobservice.bootstrap.process import harden; harden(); print(resource.getrlimit(resource.RLIMIT_CORE))"
    said = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "(0, 0)"
    assert resource.RLIMIT_CORE == 4 or sys.platform != "linux"
