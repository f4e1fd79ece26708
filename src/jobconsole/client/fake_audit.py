"""Owns the audit trail and the timeline of the fake service: their routes, and what a test puts there by hand.

    fake.trail.add("m.ito", "claim", "x", reason="late")      # an entry of the trail
    fake.trail.seal()                                          # the Worker's duty
    fake.trail.happened(TimelineKind.ALARM, "t.late", "Alarm late.", at)

The timeline is what was put there: making it of rows is the service's work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from jobconsole.client.fake_asked import PEOPLE, Asked, Handler
from jobcontract import csv_text
from jobcontract.audit import BY_ITSELF, AuditDetail, AuditEntry, AuditPage, AuditSeal
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.occurrence_names import read_instant
from jobcontract.operating import TimelineKind
from jobcontract.session import Person
from jobcontract.timeline import TIMELINE_DAYS, Timeline, TimelineEntry

_HEADS = ("entry", "instant", "person", "name", "action", "subject", "outcome", "schedule", "detail")
_WORDS = ("action", "subject", "outcome", "schedule")


class FakeTrail:
    """The trail of one tenant, with its seals, and what its timeline tells."""

    def __init__(self, now: Callable[[], datetime], entries: list[AuditEntry]) -> None:
        self._now = now
        self.entries = entries
        self.seals: dict[int, AuditSeal] = {}
        self.told: list[TimelineEntry] = []
        self.looked: int | None = None
        """How many entries one page looks through; None: all."""

    def add(
        self, person: str | None, action: str, subject: str, *, outcome: str = "done", **detail: object
    ) -> AuditEntry:
        """An entry of now; its `schedule` is the member of that name."""
        schedule = detail.get("schedule")
        entry = AuditEntry.model_validate(
            {
                "id": len(self.entries) + 1,
                "at": self._now(),
                "person": None if person is None else {"id": person, "name": PEOPLE[person][0]},
                "action": action,
                "subject": subject,
                "outcome": outcome,
                "schedule": schedule if isinstance(schedule, str) else None,
                "detail": detail,
            }
        )
        self.entries.append(entry)
        return entry

    def seal(self) -> None:
        """Seal every entry."""
        for entry in self.entries:
            link = hashlib.sha256(entry.model_dump_json().encode()).hexdigest()
            self.seals.setdefault(entry.id, AuditSeal(place=len(self.seals) + 1, link=link, sealed_at=self._now()))

    def happened(
        self, kind: TimelineKind, subject: str, sentence: str, at: datetime, *, person: str | None = None
    ) -> None:
        """Something that the timeline tells of."""
        who = None if person is None else Person(id=person, name=PEOPLE[person][0])
        self.told.append(TimelineEntry(at=at, kind=kind, subject=subject, person=who, sentence=sentence))

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of the trail and the timeline; the export is bytes, see `export`."""
        return {"audit": self._page, "audit-entry": self._entry, "timeline": self._timeline}

    def export(self, asked: Asked) -> bytes:
        """What was asked for as CSV; the export is an entry itself."""
        rows = self._asked(asked)
        given = {name: value for name, value in asked.query.items() if name not in ("cursor", "limit")}
        self.add(asked.person.id, "export-audit", "leeds", rows=len(rows), whole=True, asked=given)
        lines = csv_text.lines(
            (
                row.id,
                row.at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
                row.person.id if row.person else None,
                row.person.name if row.person else None,
                row.action,
                row.subject,
                row.outcome,
                row.schedule,
                json.dumps(dict(row.detail), ensure_ascii=False, sort_keys=True) if row.detail else None,
            )
            for row in rows
        )
        return csv_text.MARK + csv_text.lines([_HEADS]) + lines

    def _page(self, asked: Asked) -> AuditPage:
        if self.looked is not None:
            return self._searched(asked, self.looked)
        rows, skipped = self._asked(asked), _cursor(asked)
        page = rows[skipped : skipped + asked.limit()]
        end = skipped + len(page)
        return AuditPage(entries=tuple(page), next=str(end) if end < len(rows) else None, as_of=self._now())

    def _searched(self, asked: Asked, looked: int) -> AuditPage:
        """A page of the next so many entries, which says how far it looked."""
        begin = _cursor(asked)
        window = [*reversed(self.entries)][begin : begin + looked]
        fit = {each.id for each in self._asked(asked)}
        more = begin + looked < len(self.entries)
        return AuditPage(
            entries=tuple(each for each in window if each.id in fit),
            next=str(begin + looked) if more else None,
            as_of=self._now(),
            looked_to=window[-1].at if more else None,
        )

    def _entry(self, asked: Asked) -> AuditDetail:
        entry = next((each for each in self.entries if str(each.id) == asked.parts["entry"]), None)
        if entry is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no entry {asked.parts['entry']} in the audit trail of leeds.")
        before, after = entry.detail.get("before"), entry.detail.get("after")
        return AuditDetail(
            entry=entry,
            before=before if isinstance(before, dict) else None,
            after=after if isinstance(after, dict) else None,
            reference="FAKE",
            seal=self.seals.get(entry.id),
            now=self._now(),
        )

    def _asked(self, asked: Asked) -> list[AuditEntry]:
        since, until = _instant(asked, "since"), _instant(asked, "until")
        person = asked.query.get("person")
        return [
            entry
            for entry in reversed(self.entries)
            if (since is None or entry.at >= since)
            and (until is None or entry.at < until)
            and (person is None or person == (entry.person.id if entry.person else BY_ITSELF))
            and all(asked.query.get(word) in (None, getattr(entry, word)) for word in _WORDS)
        ]

    def _timeline(self, asked: Asked) -> Timeline:
        since, until = _instant(asked, "since"), _instant(asked, "until")
        if since is None or until is None or until <= since or until - since > timedelta(days=TIMELINE_DAYS):
            raise Refusal(ErrorCode.INVALID_REQUEST, "The stretch is none, or too long.")
        kinds = [TimelineKind(each) for each in asked.query.get("kind", "").split(",") if each] or list(TimelineKind)
        told = sorted(
            (each for each in self.told if since <= each.at < until and each.kind in kinds), key=lambda each: each.at
        )
        skipped = _cursor(asked)
        page = told[skipped : skipped + asked.limit()]
        end = skipped + len(page)
        following = str(end) if end < len(told) else None
        return Timeline(since=since, until=until, entries=tuple(page), next=following, now=self._now())


def _cursor(asked: Asked) -> int:
    text = asked.query.get("cursor", "0")
    if not text.isdecimal():
        raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor is not one of this listing.")
    return int(text)


def _instant(asked: Asked, name: str) -> datetime | None:
    text = asked.query.get(name)
    if text is None:
        return None
    found = read_instant(text)
    if found is None:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{name} is no instant.")
    return found
