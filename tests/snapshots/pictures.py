"""Copies the pictures that the tests compare with to docs/screens, under the names that the documents use.

python -m tests.snapshots.pictures
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

TAKEN = Path(__file__).parent / "__snapshots__"
SHOWN = Path(__file__).parents[2] / "docs" / "screens"
NAMES: Mapping[str, str] = {
    "test_acts/test_a_disabled_schedule_in_the_list[narrow]": "schedule-disabled-80x24",
    "test_acts/test_disabling": "disable-80x24",
    "test_acts/test_enabling": "enable-80x24",
    "test_acts/test_why_it_does_not_run": "why-not-running-80x24",
    "test_acts/test_runbooks": "runbooks-80x24",
    "test_acts/test_the_simulator[narrow]": "simulator-80x24",
    "test_acts/test_the_simulator[wide]": "simulator-140x40",
    "test_acts/test_the_lease_timeline_of_a_replayed_occurrence[narrow]": "occurrence-replayed-80x24",
    "test_money/test_a_plan_that_runs[narrow]": "plan-progress-80x24",
    "test_money/test_a_plan_that_runs[wide]": "plan-progress-140x40",
    "test_money/test_a_paused_plan_while_money_is_stopped": "plan-paused-80x24",
    "test_money/test_the_plans": "plans-80x24",
    "test_money/test_released_today": "released-80x24",
    "test_queues/test_the_queue[dark]": "queue-80x24",
    "test_queues/test_the_queue[wide]": "queue-140x40",
    "test_queues/test_the_queue[light]": "queue-light-80x24",
    "test_queues/test_one_item": "item-80x24",
    "test_queues/test_the_act_form": "act-form-80x24",
    "test_queues/test_a_refused_act": "act-refused-80x24",
    "test_queues/test_cut_off": "queue-cut-off-80x24",
    "test_queues/test_an_empty_queue": "queue-empty-80x24",
    "test_queues/test_a_colleagues_claim_that_can_be_broken": "break-claim-80x24",
    "test_plans/test_the_preview[narrow]": "plan-80x24",
    "test_plans/test_the_preview[wide]": "plan-140x40",
    "test_plans/test_confirming[narrow]": "confirm-80x24",
    "test_plans/test_confirming[small]": "confirm-60x15",
    "test_jobs/test_unresolved_failures[narrow]": "jobs-80x24",
    "test_jobs/test_unresolved_failures[wide]": "jobs-140x40",
    "test_jobs/test_a_job_that_failed[narrow]": "job-failed-80x24",
    "test_jobs/test_a_job_that_failed[wide]": "job-failed-140x40",
    "test_jobs/test_a_job_that_runs": "job-running-80x24",
    "test_jobs/test_what_the_customer_is_told": "job-summary-80x24",
    "test_jobs/test_the_lineage_of_a_job": "job-lineage-80x24",
    "test_jobs/test_resolving_a_failure": "job-resolve-80x24",
    "test_jobs/test_retrying_a_job": "job-retry-80x24",
    "test_jobs/test_a_recovery_of_jobs": "jobs-recovery-80x24",
    "test_jobs/test_finding": "find-80x24",
    "test_recoveries/test_the_overview[narrow]": "overview-80x24",
    "test_recoveries/test_the_overview[wide]": "overview-140x40",
    "test_recoveries/test_the_alarms": "alarms-80x24",
    "test_audit/test_the_timeline[narrow]": "timeline-80x24",
    "test_audit/test_the_trail[narrow]": "audit-80x24",
    "test_recoveries/test_a_recovery_before_it_is_confirmed[narrow]": "recovery-80x24",
    "test_recoveries/test_a_recovery_while_it_is_applied": "recovery-progress-80x24",
    "test_schedules/test_the_schedules[narrow]": "schedules-80x24",
    "test_schedules/test_the_schedules[wide]": "schedules-140x40",
    "test_schedules/test_one_occurrence": "occurrence-80x24",
    "test_schedules/test_the_workers": "workers-80x24",
    "test_scores/test_why[narrow]": "why-80x24",
    "test_scores/test_why[wide]": "why-140x40",
    "test_scores/test_what_if": "what-if-80x24",
    "test_shell/test_one_item_wide": "item-140x40",
    "test_shell/test_the_act_form_wide": "act-form-140x40",
    "test_shell/test_the_shell[help]": "help-80x24",
    "test_shell/test_the_shell[palette]": "palette-80x24",
    "test_shell/test_the_shell[you]": "you-80x24",
    "test_shell/test_the_shell[cover]": "cover-80x24",
    "test_shell/test_signing_in": "sign-in-80x24",
}
"""Test to the name of its picture."""


def main() -> int:
    """Copies every picture; 1 where one was not taken yet."""
    SHOWN.mkdir(parents=True, exist_ok=True)
    missing = [test for test in NAMES if not (TAKEN / f"{test}.svg").exists()]
    for test, name in NAMES.items():
        if test not in missing:
            shutil.copyfile(TAKEN / f"{test}.svg", SHOWN / f"{name}.svg")
    for test in missing:
        sys.stderr.write(f"{test}: no picture yet; take it with `make snapshots`\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
