"""Owns the activation of a customer's workspace, and the refresh of access that a changed licence asks for."""

from __future__ import annotations

from collections.abc import Mapping

from examples.payments.items import NOTES
from jobcontract.ids import NAME_MAX
from jobservice.application import (
    Application,
    FailedJob,
    NewWorkItem,
    Outcome,
    Patience,
    StepCall,
    done,
    refused,
)

ACTIVATE = "workspace.activate"
REFRESH = "access.refresh"
LICENCES: Mapping[str, tuple[str, ...]] = {
    "standard": ("Payouts",),
    "professional": ("Payouts", "Disputes"),
    "complete": ("Payouts", "Disputes", "Statements"),
}
"""The applications of each licence."""
SEATS_MOST = 500
RESERVED = frozenset({"admin", "api", "help", "www"})
"""Names that no workspace has."""
_PARTS = 20
_PART_SECONDS = 0.1


async def check_licence(call: StepCall) -> Outcome:
    """Whether there is such a licence, for so many seats, and a workspace to activate."""
    licence, seats = str(call.inputs["licence"]), int(call.inputs["seats"])
    if call.workspace is None:
        return refused("It names no workspace; submit it in the scope of one.")
    if licence not in LICENCES:
        return refused(f"There is no licence {licence}; there are {', '.join(LICENCES)}.")
    if not 1 <= seats <= SEATS_MOST:
        return refused(f"A licence has 1 to {SEATS_MOST} seats, not {seats:,}.")
    return done(f"{licence.capitalize()}, {seats:,} seats")


async def reserve_name(call: StepCall) -> Outcome:
    """Reserve the address of the workspace."""
    name = str(call.workspace).rpartition("/")[2].lower().replace(" ", "-")
    if name in RESERVED:
        return refused(f"The name {name} is taken by the service itself; the customer has to choose another.")
    call.keep(name=name)
    return done(f"{name} is reserved")


async def open_workspace(call: StepCall) -> Outcome:
    """Prepare its storage, part by part."""
    for part in range(1, _PARTS + 1):
        await call.wait(_PART_SECONDS)
        await call.progress(100 * part // _PARTS, f"{part} of {_PARTS} parts are ready")
    return done(f"{_PARTS} parts are ready")


async def write_applications(call: StepCall) -> Outcome:
    """Write one item for each application of the licence, and submit the one refresh of access that the licence asks for:
    its identity is equal in every attempt and every retry."""
    licence = str(call.inputs["licence"])
    for application in LICENCES[licence]:
        item = NewWorkItem(
            key=f"workspace/{call.workspace}/{application.lower()}",
            title=f"{application} of {call.workspace}"[:NAME_MAX],
            payload={"licence": licence, "seats": call.inputs["seats"]},
            customer=call.customer,
            workspace=call.workspace,
        )
        call.push(NOTES, item)
    call.submit(REFRESH, f"licence/{call.scope}", {"workspace": str(call.workspace), "cause": f"licence {licence}"})
    return done(f"{len(LICENCES[licence])} applications are written")


async def activation_failed(job: FailedJob) -> Outcome:
    """Keep a note: the customer waits."""
    note = NewWorkItem(
        key=f"activation-failed/{job.job}",
        title=f"{job.subject} was not activated"[:NAME_MAX],
        payload={"reason": job.summary, "reference": job.reference, "next": "Tell the customer, and retry the job."},
    )
    await job.push(NOTES, note)
    return done("A note says that the customer waits.")


async def refresh_access(call: StepCall) -> Outcome:
    """Read anew who may do what in a workspace."""
    await call.wait(0.2)
    return done(f"Access to {call.inputs['workspace']} is read anew")


def register(application: Application) -> None:
    """Register the steps and the failure effect under the ids of their records."""
    application.step("workspace.check-licence", Patience(attempts=2))(check_licence)
    application.step("workspace.reserve-name")(reserve_name)
    application.step("workspace.open", Patience(attempts=3, bound=60))(open_workspace)
    application.step("workspace.write-applications")(write_applications)
    application.failure_effect("workspace.activation-failed")(activation_failed)
    application.step("access.refresh", Patience(attempts=5, longest_wait=30))(refresh_access)
