"""dbos: workflows from one of its queues, with no step or with one, polled often."""

from __future__ import annotations

import sys
import time

import psycopg
from dbos import DBOS, DBOSClient
from said import asked, say, wait_until

AT_ONCE = 200
VERSION = "benchmark"
ENQUEUE = """
select dbos.enqueue_workflow(
    %s, 'nothing', positional_args => array[to_json(g)], app_version => %s, application_name => 'benchmark'
)
from generate_series(1, %s) as g
"""
FINISHED = "select count(*) from dbos.workflow_status where queue_name = 'nothing' and status = 'SUCCESS'"


@DBOS.workflow(name="nothing")
def nothing(number: int) -> int:
    """A workflow without a step."""
    return number


@DBOS.step(name="one")
def one(number: int) -> int:
    """The one step."""
    return number


@DBOS.workflow(name="with-a-step")
def with_a_step(number: int) -> int:
    """A workflow with one step."""
    return int(one(number))


def launch(url: str) -> None:
    """Start the engine in this process."""
    DBOS(
        config={
            "name": "benchmark",
            "system_database_url": url,
            "application_version": VERSION,
            "executor_id": "one",
            "log_level": "ERROR",
            "sys_db_pool_size": 20,
        }
    )


def main(workflow: str) -> None:
    """Fill the queue, then measure how long it takes to empty it; launching included, as its own trial had it."""
    url, jobs = asked()
    launch(url)
    DBOS.launch()
    DBOS.destroy()
    client = DBOSClient(system_database_url=url, application_name="benchmark")
    client.register_queue("nothing", worker_concurrency=AT_ONCE, polling_interval_sec=0.02)
    with psycopg.connect(url) as connection:
        connection.execute(ENQUEUE.encode(), (workflow, VERSION, jobs))
    launch(url)
    DBOS.listen_queues(["nothing"])
    began = time.perf_counter()
    DBOS.launch()
    with psycopg.connect(url, autocommit=True) as looking:

        def finished() -> int:
            row = looking.execute(FINISHED.encode()).fetchone()
            return 0 if row is None else int(row[0])

        wait_until(finished, jobs)
    took = time.perf_counter() - began
    client.destroy()
    DBOS.destroy()
    say(jobs, took, f"{AT_ONCE} at once, {'one step' if workflow == 'with-a-step' else 'no step'}")


if __name__ == "__main__":
    main(sys.argv[3])
