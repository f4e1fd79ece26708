"""Owns filling a fresh demo: the sample of the repository, and the published files where they lie beside it.

Every row is accounted for in a sentence; what could not be read is listed and waits as a note.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from examples.payments.items import DISPUTES, NOTES, PAYOUTS, dispute_items, note_items, payout_item
from examples.payments.payouts import read_payouts
from examples.payments.register import InvoiceRegister, read_register
from examples.payments.table import FileRefused
from examples.payments.tally import FileTally, Source, Taken, take
from jobservice.application import NewJob, NewWorkItem

Push = Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]]
Submit = Callable[[str, Sequence[NewJob]], Awaitable[int]]

SAMPLE = Path(__file__).parent / "sample"
PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data"
"""Where the four published files are, when they are there: beside the repository."""

LEEDS, YORK = "leeds", "york"
SAMPLE_TENANTS = {
    "currencies.csv": LEEDS,
    "leeds-2010-12.csv": LEEDS,
    "leeds-2011-06.csv": YORK,
    "leeds-2012-11.csv": LEEDS,
    "leeds-2020-06.csv": LEEDS,
    "made-up-oddities.csv": LEEDS,
}
"""Which tenant of the demo gets which file of the sample: York, which publishes nothing here, borrows one of Leeds."""
BATCH = 1_000


_NO_JOBS: Mapping[str, Sequence[NewJob]] = {}


class Seeding:
    """The application's seeder. `most` = how many payouts of the published files to take, the newest; None = all. `jobs`: the
    background jobs of each tenant."""

    def __init__(
        self,
        sample: Path = SAMPLE,
        published: Path = PUBLISHED,
        most: int | None = None,
        jobs: Mapping[str, Sequence[NewJob]] = _NO_JOBS,
    ) -> None:
        self._sample = sample
        self._published = published
        self._most = most
        self._jobs = jobs

    async def __call__(self, now: datetime, push: Push, submit: Submit) -> Sequence[str]:
        """Push and submit everything; one sentence for each file, each unreadable row, and each tenant's items and jobs."""
        yesterday = (now - timedelta(days=1)).date()
        sources, said = self._sources()
        taken, tallies = take(sources, yesterday, self._most)
        register = read_register((self._sample / "invoice-register.csv").read_bytes())
        for tenant in dict.fromkeys(source.tenant for source in sources):
            own = [each for each in taken if each.tenant == tenant]
            sampled = [each for each in own if each.payout.file.startswith("sample/")]
            notes = [note for tally in tallies if tally.tenant == tenant for note in note_items(tally, yesterday)]
            disputes = dispute_items(sampled, register)
            new = await _push_payouts(push, tenant, own, register)
            new += await _push(push, tenant, DISPUTES, disputes)
            new += await _push(push, tenant, NOTES, notes)
            whole = len(own) + len(disputes) + len(notes)
            counts = f"{len(own):,} payouts, {len(disputes):,} disputes, {len(notes):,} notes"
            said.append(f"{tenant}: {counts}; {new:,} new, {whole - new:,} there before.")
        for tenant, jobs in self._jobs.items():
            said.append(f"{tenant}: {len(jobs):,} background jobs; {await submit(tenant, jobs):,} new.")
        return [*(line for tally in tallies for line in _lines(tally)), *said]

    def _sources(self) -> tuple[list[Source], list[str]]:
        """Every file that can be read, the sample first, and what to say of those that cannot."""
        said: list[str] = []
        sources = [
            *(
                self._source(self._sample / name, f"sample/{name}", tenant, said)
                for name, tenant in SAMPLE_TENANTS.items()
            ),
            *(self._source(path, path.name, LEEDS, said) for path in sorted(self._published.glob("leeds-*.csv"))),
        ]
        if not any(source is not None and source.capped for source in sources):
            said.append("The published files are not beside the repository (shared/data): the sample alone was loaded.")
        elif self._most is not None:
            said.append(f"Of the published files the newest {self._most:,} payouts were taken.")
        return [source for source in sources if source is not None], said

    def _source(self, path: Path, name: str, tenant: str, said: list[str]) -> Source | None:
        try:
            file = read_payouts(name, _content(path))
        except (OSError, FileRefused) as error:
            said.append(f"{name} was not loaded: {error.strerror if isinstance(error, OSError) else error}")
            return None
        return Source(tenant=tenant, file=file, capped=path.parent == self._published)


def _content(path: Path) -> bytes:
    """The bytes of an ordinary file; a link is not followed, so nothing outside the folder is read (case FILE-03)."""
    if path.is_symlink():
        raise FileRefused("It is a link, and links are not followed.")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileRefused("It is not an ordinary file.")
        return file.read()


def _lines(tally: FileTally) -> list[str]:
    return [str(tally), *(f"  line {row.line:,}: {row.why}" for row in tally.unreadable)]


async def _push_payouts(push: Push, tenant: str, taken: Sequence[Taken], register: InvoiceRegister) -> int:
    """How many were new. Items are made batch by batch, so that a whole file never stands in memory twice."""
    new = 0
    for start in range(0, len(taken), BATCH):
        batch = taken[start : start + BATCH]
        new += await push(tenant, PAYOUTS, [payout_item(each, register) for each in batch])
    return new


async def _push(push: Push, tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
    new = 0
    for start in range(0, len(items), BATCH):
        new += await push(tenant, queue, items[start : start + BATCH])
    return new
