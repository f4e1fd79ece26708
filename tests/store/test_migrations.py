"""Migrations: once and in order, whoever runs them; undone where they fail; refused where they would go backwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from jobservice.migrate import migrate
from jobservice.rules.items import Content, Payment, searched_words
from jobservice.settings import StartRefused
from jobservice.store.database import server_too_old
from jobservice.store.revisions import Migration, known_migrations
from tests.conftest import Server

BEFORE = known_migrations()


def after(number: int, sql: str) -> Migration:
    """A made-up migration after the shipped ones."""
    revision = f"{9000 + number}"
    return Migration(revision=revision, name=f"{revision}_test.sql", sql=sql)


@pytest.fixture
def fresh(server: Server, worker_id: str) -> Iterator[str]:
    """The address of an empty database, for its owner."""
    name = f"fresh_{worker_id}"
    server.create_database(name)
    yield server.url("jobs_owner", name)
    server.drop_database(name)


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    """What the owner reads."""
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def test_everything_is_applied_once(fresh: str) -> None:
    assert migrate(fresh).applied == tuple(migration.name for migration in BEFORE)
    assert migrate(fresh).applied == ()
    assert rows(fresh, "select version_num from jobs.schema_version") == [(BEFORE[-1].revision,)]


def test_processes_at_once_apply_it_once(fresh: str) -> None:
    slow = (*BEFORE, after(1, "create table jobs.once (id integer); select pg_sleep(0.2);"))
    applied: list[str] = []
    together = threading.Barrier(4)

    def run() -> None:
        together.wait()
        applied.extend(migrate(fresh, slow).applied)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(applied) == [migration.name for migration in slow]


def test_a_newer_database_is_refused_and_left_alone(fresh: str) -> None:
    migrate(fresh, (*BEFORE, after(1, "create table jobs.newer (id integer)")))
    with pytest.raises(StartRefused, match=r"at version 9001 .* newer release"):
        migrate(fresh)
    assert rows(fresh, "select version_num from jobs.schema_version") == [("9001",)]


def test_a_failed_file_is_undone_and_nothing_after_it_runs(fresh: str) -> None:
    broken = (
        *BEFORE,
        after(1, "create table jobs.kept (id integer)"),
        after(2, "create table jobs.half (id integer); select 1 / 0"),
        after(3, "create table jobs.later (id integer)"),
    )
    with pytest.raises(StartRefused, match=r"9002_test\.sql failed and was undone: division by zero"):
        migrate(fresh, broken)
    left = "select tablename from pg_tables where tablename in ('kept', 'half', 'later')"
    assert rows(fresh, left) == [("kept",)]
    assert rows(fresh, "select version_num from jobs.schema_version") == [("9001",)]
    repaired = (*broken[:-2], after(2, "create table jobs.half (id integer)"), broken[-1])
    assert migrate(fresh, repaired).applied == ("9002_test.sql", "9003_test.sql")


@pytest.mark.requirement("order-queue-items-by-score")
def test_items_from_before_scores_are_found_by_their_words(fresh: str, server: Server) -> None:
    titles = ("ÄRGER Straße", "two\t spaces\u00a0\u2028", "ΑΣΑΣ Ёлка", "ﬁne É\x1fJOSÉ", "İzmir")
    name = str(psycopg.conninfo.conninfo_to_dict(fresh)["dbname"])
    migrate(fresh, BEFORE[:1])
    with server.superuser(name) as connection:
        connection.execute("insert into jobs.tenants (id, name) values ('t', 'T')")
        for number, title in enumerate(titles):
            connection.execute(
                "insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id,"
                " payee_name, account, pushed_by, changed_by)"
                " values ('t', 'q', %s, %s, now(), 5, 'GBP', 'S-1', 'Ärzte', 'GB29NWBK6016', 'p', 'p')",
                (f"KÉ-{number}", title),
            )
    migrate(fresh)
    payment = Payment(minor=5, currency="GBP", payee_id="S-1", payee_name="Ärzte", account="GB29NWBK6016")
    wanted = [
        (searched_words(Content(title=title, payment=payment, inputs={}), f"KÉ-{number}"),)
        for number, title in enumerate(titles)
    ]
    with server.superuser(name) as connection:
        found = connection.execute("select words from jobs.items order by business_key").fetchall()
    assert found == wanted


def test_sql_is_taken_as_it_is_written(fresh: str) -> None:
    written = (
        "create table jobs.signs as select 'a%b %s %(x)s :x ::y $1'::text as sign, 7 % 4 as rest, '{\"a\":1}'::jsonb"
    )
    migrate(fresh, (*BEFORE, after(1, written)))
    assert rows(fresh, "select sign, rest from jobs.signs") == [("a%b %s %(x)s :x ::y $1", 3)]


def test_a_login_that_may_not_is_told_which_command_an_administrator_must_run(server: Server, worker_id: str) -> None:
    login, name = f"bare_{worker_id}", f"bare_{worker_id}"
    server.create_database(name)
    with server.superuser() as admin:
        admin.execute(f"create role {login} login".encode())
        try:
            with pytest.raises(StartRefused, match=rf'grant create on database "{name}" to "{login}";'):
                migrate(server.url(login, name))
        finally:
            server.drop_database(name)
            admin.execute(f"drop role {login}".encode())


def test_a_server_that_cannot_be_reached_is_a_sentence_without_the_password(tmp_path: object) -> None:
    with pytest.raises(StartRefused, match="cannot be reached") as refused:
        migrate(f"postgresql://owner:s3cret@/jobs?host={tmp_path}")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(("number", "too_old"), [(140_012, True), (150_000, False), (180_004, False)])
def test_postgresql_15_is_the_oldest(number: int, too_old: bool) -> None:
    assert (server_too_old(number) is not None) is too_old
