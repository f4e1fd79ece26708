"""Owns what the check can find wrong with records: the closed list of codes, and one finding with its place.

Never reads a file. `docs/records.md` shows the same codes; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CODES: Mapping[str, str] = {
    "records-missing": "the folder is not there, cannot be listed, or holds no record",
    "record-outside": "a link, or something that is no ordinary file, stands in the folder; it is not followed",
    "record-misnamed": "a file whose name does not end in .yaml",
    "record-too-large": "a file larger than 64 KiB, or nested deeper than 12 levels",
    "not-utf-8": "a file that is not UTF-8 text",
    "record-unreadable": "a file that cannot be read, is not YAML 1.2, or holds no mapping",
    "documents-many": "more than one document in a file",
    "alias-refused": "an anchor, an alias or a tag: records say everything in place",
    "key-repeated": "the same key twice in one mapping",
    "kind-missing": "the record does not begin with `kind`",
    "kind-unknown": "a `kind` that the service does not know",
    "id-missing": "the second field is not `id`",
    "id-taken": "two records of one kind with the same id, or one with an id of the service's own",
    "field-unknown": "a field that the kind does not have",
    "field-missing": "a field that the kind needs",
    "field-invalid": "a field whose value is not in the expected form",
    "claim-mode-unstated": "a queue that does not say disabled, optional or required",
    "moves-unstated": "a use case or kind of background job that does not say whether it moves money",
    "moves-unfit": "a use case that moves money in a queue whose items carry none",
    "preview-missing": "a bulk command that moves money and does not say that it is previewed",
    "confirm-missing": "a bulk command that moves money and does not say how it is confirmed",
    "limits-incomplete": "limits of a bulk command that do not all name the same currencies",
    "bulk-unfit": "a bulk command that its queue, its use case or its queue of uncertain outcomes does not fit",
    "money-unconfirmed": "a use case that moves money, named by a job, or by a queue for which no bulk command confirms it",
    "reference-unknown": "an id that no record of the needed kind has",
    "reference-unfit": "an id of a record that cannot serve there",
    "score-unstated": "a queue that does not say which rule scores its items, or that none does",
    "score-unfit": "a rule with an input that the items of the queue cannot give",
    "setting-missing": "a setting that the service reads and no record gives",
    "setting-unknown": "a setting that nothing reads",
    "setting-out-of-bounds": "a setting outside the bounds that the service can work with",
    "setting-conflict": "two settings that contradict each other",
    "use-case-unregistered": "a use-case record whose id the application did not register",
    "use-case-signature": "a registered function that does not take what its record declares",
    "rule-unregistered": "a rule record whose id the application did not register",
    "rule-signature": "a registered rule that cannot be called with its inputs and the present instant",
    "rule-version": "a registered rule that follows another version than its record states",
    "behavior-unrecorded": "something registered without a record, or a step of a background job without a use case that has both",
    "schedule-invalid": "a job with a schedule that no tool can read, or that never fires",
    "zone-unstated": "a cron that does not say in which time zone",
    "zone-unknown": "a time zone that the time zone database does not have",
    "zone-unreasoned": "a job in another zone than UTC that does not say why",
    "clock-change-unstated": "a job in another zone than UTC that does not say what the skipped and the repeated hour do",
    "hour-varies": "a job in another zone than UTC whose hour is a wildcard, range or step, and not `repeated: both`",
    "misfire-unstated": "a job that does not say what becomes of missed instants",
    "misfire-unbounded": "a job that makes up for each missed instant, and does not say for how many",
    "selection-unstated": "a job that does not say what it selects, or how many items one batch takes",
    "selection-unregistered": "a job whose selection the application did not register",
    "selection-signature": "a registered selection that cannot be called as one",
    "runs-unstated": "a job that does not say which use case it runs",
    "batch-unfit": "a job on the batch path whose use case or cursor does not fit it",
    "cursor-missing": "a saga-driving job that does not say where it goes on",
    "cursor-shared": "two jobs that go on behind one cursor",
    "bound-missing": "a job that does not say how long an attempt may take",
    "attempts-unbounded": "a job that does not say how often it is tried",
    "backoff-missing": "a job that does not say how long it waits between attempts",
    "tenants-unstated": "a job that does not say for which tenants it runs",
    "retention-missing": "a job that names no setting for how long its occurrences are kept",
    "retention-short": "a job whose occurrences are gone while missed ones may still be made up for",
    "job-guard-missing": "a manual job that does not say who may run it and when",
    "runs-where-missing": "a manual job that does not say in which deployments it may run",
    "refresh-unscheduled": "a queue whose scores change with time alone, and no job that scores its items anew",
    "runbook-missing": "a job for which no runbook says how it is inspected, replayed or disabled",
    "runbook-twice": "two runbooks for one procedure of one job",
    "runbook-unfit": "a runbook whose interface does not do what it says, or asks for another permission",
    "interface-unknown": "a runbook with a route or headless command that there is not, or that do not belong together",
    "failure-effect-unstated": "a kind of background job that says neither what its failure does nor that nothing is to be done",
    "steps-unfit": "a version of a kind of background job without steps, with a step twice, or behind a later version",
    "job-kind-unfit": "a kind of background job that its steps, its failure effect or its bulk command do not fit",
    "engine-knob-in-record": "a record of background jobs that says how often, how fast or how long something is tried",
    "input-secret": "a kind of background job with an input of a secret or an account",
}
"""Every code that a finding can bear, with what it means."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """One thing that is wrong: where (`line` counts from 1), which code, and a sentence that says what to do."""

    file: str
    line: int
    code: str
    sentence: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code} is not a code of the records check")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.code}: {self.sentence}"
