"""Owns the closed sets of words for queues, items, claims, acts and roles. The word on the screen is the value here."""

from __future__ import annotations

from enum import StrEnum


class ClaimMode(StrEnum):
    """What a queue's record says of claims (requirement state-the-claim-mode)."""

    DISABLED = "disabled"
    """No claims: acts race, the first wins by version."""
    OPTIONAL = "optional"
    """Free items may be acted on; one held by another person is refused, naming the holder."""
    REQUIRED = "required"
    """Only the holder acts."""


class ItemState(StrEnum):
    """Where a work item stands. `set-aside` is an open item whose time has not come yet."""

    OPEN = "open"
    SET_ASIDE = "set-aside"
    EVIDENCE_ASKED = "evidence-asked"
    REJECTED = "rejected"
    RESOLVED = "resolved"

    @property
    def closed(self) -> bool:
        """Whether no act may change an item in this state any more."""
        return self in CLOSED_STATES


CLOSED_STATES = frozenset({ItemState.REJECTED, ItemState.RESOLVED})


class ItemView(StrEnum):
    """Which items of a queue a listing shows."""

    WAITING = "waiting"
    """Open or evidence asked, and not set aside: what can be worked now."""
    SET_ASIDE = "set-aside"
    CLOSED = "closed"


class ClaimEnding(StrEnum):
    """How a claim ended, in an item's history."""

    RELEASED = "released"
    """Given back by its holder."""
    LAPSED = "lapsed"
    """Its lease passed without a key of its holder."""
    BROKEN = "broken"
    """Taken by a colleague with *queue.claim.break* and a reason."""
    HANDED_OVER = "handed-over"
    ACTED = "acted"
    """An act closed the item or set it aside."""


class OutcomeKind(StrEnum):
    """How one act or one item of bulk work ended (MONEY.md 4): one enumeration everywhere."""

    DONE = "done"
    REFUSED = "refused"
    RETRY = "retry"
    FAILED = "failed"
    UNCERTAIN = "uncertain"


class Moves(StrEnum):
    """What a use case moves; its record must say so (MONEY.md 1)."""

    MONEY = "money"
    NOTHING = "nothing"


class Role(StrEnum):
    """What a person is in one tenant (MONEY.md 24)."""

    FINANCE = "finance"
    OPERATOR = "operator"
    SUPPORT = "support"
    AUDITOR = "auditor"
    PUSHER = "pusher"
    ADMINISTRATOR = "administrator"


class InputType(StrEnum):
    """Types of the inputs that a use case or a queue declares."""

    TEXT = "text"
    INSTANT = "instant"
    """An RFC 3339 instant with an offset."""
    PERSON = "person"
    """The id of a person of the same tenant."""
    BOOLEAN = "boolean"
    INTEGER = "integer"


class RuleInputType(StrEnum):
    """Types of the inputs that a calculation rule declares."""

    MONEY = "money"
    """The item's amount, with its currency."""
    AGE = "age"
    """The item's own date, counted from until now: it changes with time alone."""
    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"
