"""How Worker processes are written."""

from __future__ import annotations

from datetime import timedelta

from jobconsole.present.columns import Tone, plain
from jobconsole.present.workers import STANDINGS, none_live_words, silent_words, workers_cells, workers_title
from jobcontract.states import WorkerStanding
from tests.present.scheduled import AT, NOW, worker


def test_a_row_tells_standing_host_start_beat_and_how_much_it_holds() -> None:
    assert set(STANDINGS) == set(WorkerStanding)
    cells = workers_cells(worker(1, WorkerStanding.LIVE), AT)
    assert [cells[name].text for name in ("state", "host", "worker", "slots", "heard", "since", "rest")] == [
        "● live",
        "a1",
        "3f2c19a1",
        "3 of 16",
        "4 s ago",
        "1 h",
        "",
    ]
    assert workers_cells(worker(1, WorkerStanding.LIVE, processing=16), AT)["slots"].tone is Tone.WARN
    assert workers_cells(worker(1, WorkerStanding.DRAINING), AT)["rest"].text == "nothing new since 9 s"
    assert workers_cells(worker(1, WorkerStanding.STOPPED), AT)["heard"].text == "stopped 5 min ago"


def test_the_heading_counts_and_a_silent_one_says_what_becomes_of_its_work() -> None:
    silent = worker(2, WorkerStanding.SILENT, beat_at=NOW - timedelta(minutes=2))
    live = worker(1, WorkerStanding.LIVE)
    assert plain(workers_title([live, silent])) == "Workers · 1 live · 1 silent · 6 of 16 slots used here"
    assert silent_words(silent, AT).startswith(
        "Worker 3f2c19a2 on a2 was not heard of for 2 min: another one takes over"
    )
    assert silent_words(live, AT) == ""
    assert silent_words(silent.model_copy(update={"processing": 0}), AT) == "", "nothing of it is to be taken over"


def test_that_no_worker_is_live_is_said_first_of_all() -> None:
    live = worker(1, WorkerStanding.LIVE)
    gone = [worker(2, WorkerStanding.SILENT), worker(3, WorkerStanding.DRAINING), worker(4, WorkerStanding.STOPPED)]
    assert none_live_words(gone) == ("No Worker is live: what is due waits until one is started, or heard of again.")
    assert none_live_words([*gone, live]) == none_live_words([]) == ""
