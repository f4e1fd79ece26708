"""The twin that finds: one whole word, over every noun that the person may read, each with the command that shows it."""

from __future__ import annotations

import shlex

import pytest

from jobconsole.client.fake_job_examples import furnish
from tests.cli.twins import Typed

pytestmark = pytest.mark.requirement("INV-01")


@pytest.mark.parametrize("word", ["id", "submission_identity", "failure_reference"])
def test_whatever_a_person_reads_of_a_job_leads_to_it(typed: Typed, word: str) -> None:
    job = furnish(typed.fake.account).failed[0]
    text = getattr(job.summary, word)
    found = typed.json("find", text, person="s.bell")["found"]
    assert [(each["noun"], each["id"]) for each in found] == [("job", job.id)]
    told = typed("find", text, person="s.bell").output
    shown = typed(*shlex.split(told.splitlines()[1][told.splitlines()[1].index("jobs show") :]), person="s.bell")
    assert (shown.exit_code, job.id in shown.output) == (0, True)


def test_every_noun_within_ones_rights_is_looked_through(typed: Typed) -> None:
    furnished = furnish(typed.fake.account)
    item = next(iter(typed.fake.queues.items))
    assert typed.json("find", item, person="m.ito")["found"][0]["queue"] == "payments.payouts"
    assert typed.json("find", item, person="s.bell")["found"] == []
    typed.fake.jobs.add("t.minutely", every=60)
    assert typed.json("find", "t.minutely", person="o.lind")["found"][0]["noun"] == "schedule"
    people = typed.json("find", "k.rao", person="o.lind")["found"]
    assert [each["matched"] for each in people if each["noun"] == "person"] == ["id"]
    assert [each["matched"] for each in people if each["noun"] == "job"] == ["requester"]
    foreign = typed("find", furnished.foreign.id, person="o.lind").output
    assert f"jobconsole jobs show {furnished.foreign.id} --source mailing" in foreign
    nothing = typed("find", "no-such-thing", person="s.bell")
    assert nothing.exit_code == 0
    assert "Nothing that you may see is called no-such-thing: whole words, or" in nothing.output
    assert "Looked through: jobs, recoveries, people." in nothing.output
    assert typed("find", "x", person="s.bell").exit_code == 2
