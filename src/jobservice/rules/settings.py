"""Owns the closed list of settings that setting records give values to, with their types, bounds and defaults' absence:
a set of records must state every one of them. Durations are seconds, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SettingType(StrEnum):
    """How a setting's value is written in its record."""

    DURATION = "duration"
    """ISO 8601 in days, hours, minutes, seconds (`PT1H`, `P7D`)."""
    COUNT = "count"
    SIZE = "size"
    """Bytes."""
    AMOUNTS = "amounts"
    """Minor units by currency, written as amounts (`GBP: "1,000.00"`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDeclaration:
    """A setting that the service reads: its id, type, inclusive bounds (seconds, count or bytes), and what it bounds."""

    id: str
    type: SettingType
    least: float
    most: float
    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values in force; fields are the setting ids with dots and dashes as underscores."""

    claims_lease: float
    claims_total: float
    claims_max: int
    payload_most: int
    idempotency_keep: float
    hints_keep: float
    streams_max: int
    listings_max: int
    plan_max_items: int
    plan_open: int
    plan_expiry: float
    plan_window: float
    plan_attempts: int
    recovery_max_items: int
    recovery_open: int
    recovery_expiry: float
    recovery_at_once: int
    warnings_days: float
    code_rest: float
    occurrence_lease: float
    worker_grace: float
    worker_slots: int
    alarm_late_after: float
    alarm_missed_for: float
    alarm_spike_least: int
    alarm_spike_factor: int
    alarm_silent_after: float
    alarm_quiet_after: float
    jobs_at_once: int
    jobs_keep: float
    plans_keep: float
    notices_keep: float
    alarms_keep: float
    audit_keep: float


DECLARATIONS: tuple[SettingDeclaration, ...] = (
    SettingDeclaration(
        id="claims.lease",
        type=SettingType.DURATION,
        least=1,
        most=86_400,
        purpose="a claim without a key of its holder",
    ),
    SettingDeclaration(
        id="claims.total", type=SettingType.DURATION, least=1, most=604_800, purpose="a claim with all its renewals"
    ),
    SettingDeclaration(
        id="claims.max", type=SettingType.COUNT, least=1, most=1_000, purpose="live claims of one person"
    ),
    SettingDeclaration(
        id="payload.most", type=SettingType.SIZE, least=1_024, most=16_777_216, purpose="the body of one pushed item"
    ),
    SettingDeclaration(
        id="idempotency.keep",
        type=SettingType.DURATION,
        least=3_600,
        most=7_776_000,
        purpose="how long a repeated key gets the first answer",
    ),
    SettingDeclaration(
        id="hints.keep", type=SettingType.DURATION, least=10, most=86_400, purpose="how far back a stream can resume"
    ),
    SettingDeclaration(
        id="streams.max", type=SettingType.COUNT, least=1, most=100, purpose="live streams of one person"
    ),
    SettingDeclaration(
        id="listings.max", type=SettingType.COUNT, least=1, most=100, purpose="listings of one person at once"
    ),
    SettingDeclaration(id="plan.max-items", type=SettingType.COUNT, least=1, most=50_000, purpose="items of one plan"),
    SettingDeclaration(id="plan.open", type=SettingType.COUNT, least=1, most=100, purpose="open plans of one person"),
    SettingDeclaration(
        id="plan.expiry", type=SettingType.DURATION, least=1, most=86_400, purpose="how long a plan can be confirmed"
    ),
    SettingDeclaration(
        id="plan.window",
        type=SettingType.DURATION,
        least=1,
        most=604_800,
        purpose="how long a confirmed plan may take to apply",
    ),
    SettingDeclaration(
        id="plan.attempts", type=SettingType.COUNT, least=1, most=20, purpose="attempts at one item of a plan"
    ),
    SettingDeclaration(
        id="recovery.max-items", type=SettingType.COUNT, least=1, most=50_000, purpose="rows of one recovery"
    ),
    SettingDeclaration(
        id="recovery.open", type=SettingType.COUNT, least=1, most=100, purpose="open recoveries of one person"
    ),
    SettingDeclaration(
        id="recovery.expiry",
        type=SettingType.DURATION,
        least=1,
        most=86_400,
        purpose="how long a recovery can be confirmed",
    ),
    SettingDeclaration(
        id="recovery.at-once",
        type=SettingType.COUNT,
        least=1,
        most=200,
        purpose="rows of one recovery that run at once",
    ),
    SettingDeclaration(
        id="warnings.days",
        type=SettingType.DURATION,
        least=86_400,
        most=31_536_000,
        purpose="how far back a change of account, or an equal payment, is warned of",
    ),
    SettingDeclaration(
        id="code.rest",
        type=SettingType.DURATION,
        least=0,
        most=2_592_000,
        purpose="how long after an enrolment no code confirms",
    ),
    SettingDeclaration(
        id="occurrence.lease",
        type=SettingType.DURATION,
        least=5,  # a busy process answers within a fifth of it, and so keeps its leases
        most=3_600,
        purpose="how long a run is its Worker's without a sign of life",
    ),
    SettingDeclaration(
        id="worker.grace",
        type=SettingType.DURATION,
        least=0,
        most=3_600,
        purpose="how long a Worker that stops ends what it has begun",
    ),
    SettingDeclaration(
        id="worker.slots",
        type=SettingType.COUNT,
        least=1,
        most=200,  # each may need a connection of its own to the database
        purpose="runs of one Worker at once",
    ),
    SettingDeclaration(
        id="alarm.late-after",
        type=SettingType.DURATION,
        least=10,
        most=86_400,
        purpose="how long a run may be due and not start before it is an alarm",
    ),
    SettingDeclaration(
        id="alarm.missed-for",
        type=SettingType.DURATION,
        least=60,
        most=604_800,
        purpose="how long an instant that was missed is an alarm",
    ),
    SettingDeclaration(
        id="alarm.spike-least",
        type=SettingType.COUNT,
        least=1,
        most=10_000,
        purpose="runs of a schedule that fail within an hour, or wait for another attempt, before it is an alarm",
    ),
    SettingDeclaration(
        id="alarm.spike-factor",
        type=SettingType.COUNT,
        least=1,
        most=1_000,
        purpose="how many times the hourly mean of the day before that has to be",
    ),
    SettingDeclaration(
        id="alarm.silent-after",
        type=SettingType.DURATION,
        least=15,  # three heartbeats: before that nobody calls it silent
        most=86_400,
        purpose="how long a Worker may be silent before it is an alarm",
    ),
    SettingDeclaration(
        id="alarm.quiet-after",
        type=SettingType.DURATION,
        least=0,
        most=3_600,
        purpose="how long what comes and goes has to be gone before its alarm is over",
    ),
    SettingDeclaration(
        id="jobs.at-once",
        type=SettingType.COUNT,
        least=1,
        most=1_000,
        purpose="background jobs of one Worker process at once",
    ),
    SettingDeclaration(
        id="jobs.keep",
        type=SettingType.DURATION,
        least=86_400,
        most=315_360_000,
        purpose="how long a settled job is kept, with its history and notices",
    ),
    SettingDeclaration(
        id="plans.keep",
        type=SettingType.DURATION,
        least=86_400,
        most=315_360_000,
        purpose="how long an ended plan or recovery is kept",
    ),
    SettingDeclaration(
        id="notices.keep",
        type=SettingType.DURATION,
        least=86_400,
        most=315_360_000,
        purpose="how long a delivered notice about a confirmation or a lock is kept",
    ),
    SettingDeclaration(
        id="alarms.keep",
        type=SettingType.DURATION,
        least=86_400,  # how often the same one came back within a day is counted from them
        most=315_360_000,
        purpose="how long an alarm that is over is kept",
    ),
    SettingDeclaration(
        id="audit.keep",
        type=SettingType.DURATION,
        least=2_592_000,
        most=630_720_000,
        purpose="how long an entry of the audit trail is kept",
    ),
)
