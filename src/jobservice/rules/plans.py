"""Owns decisions about plans: their names, how many a person may have, what may be changed while, and what is said of a
set of which nothing is left. Pure: plain values in, a decision out; random numbers are handed in.

What keeps an item out is compared in this order: unknown, closed, in a plan, held by another person, in a state that is
not fit, pushed or last changed by the owner, of a currency without limits. A statement does it for the whole set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jobcontract.errors import ErrorCode
from jobcontract.states import Exclusion, PlanState
from jobservice.rules.claims import Allowed, Decision, Denied

_BIRDS = [
    "auk",
    "bittern",
    "bunting",
    "buzzard",
    "chough",
    "coot",
    "crake",
    "crane",
    "curlew",
    "dipper",
    "dotterel",
    "dove",
    "dunlin",
    "dunnock",
    "eider",
    "falcon",
    "finch",
    "fulmar",
    "gannet",
    "godwit",
    "goose",
    "grebe",
    "grouse",
    "gull",
    "harrier",
    "heron",
    "hobby",
    "hoopoe",
    "ibis",
    "jackdaw",
    "jay",
    "kestrel",
    "kite",
    "knot",
    "lapwing",
    "lark",
    "linnet",
    "magpie",
    "mallard",
    "martin",
    "merlin",
    "oriole",
    "osprey",
    "ouzel",
    "owl",
    "partridge",
    "petrel",
    "pigeon",
    "pintail",
    "pipit",
    "plover",
    "puffin",
    "quail",
    "rail",
    "raven",
    "redstart",
    "robin",
    "rook",
    "ruff",
    "shrike",
    "siskin",
    "skua",
    "skylark",
    "snipe",
    "sparrow",
    "starling",
    "stint",
    "stork",
    "swallow",
    "swan",
    "swift",
    "teal",
    "tern",
    "thrush",
    "treecreeper",
    "turnstone",
    "twite",
    "wagtail",
    "warbler",
    "waxwing",
    "wheatear",
    "whimbrel",
    "wigeon",
    "wren",
    "wryneck",
    "yellowhammer",
]
NAMES_TRIED = 40
"""Names that are tried before a plan cannot be made: from each fourth on, the number has one digit more."""


def plan_name(attempt: int, below: Callable[[int], int]) -> str:
    """A name to say aloud, like lark-42; `below(n)` gives a random number from 0 to n - 1."""
    least = 10 ** (1 + attempt // 4)
    return f"{_BIRDS[below(len(_BIRDS))]}-{least + below(9 * least)}"


def decide_count(names: Sequence[str], most: int) -> Decision:
    """Whether a person with these open plans may make one more."""
    if len(names) < most:
        return Allowed()
    return Denied(
        kind=ErrorCode.PLANS_MAX,
        sentence=f"You have {len(names)} open plans ({', '.join(names)}) and may have {most}. Confirm or drop one first.",
    )


def decide_size(count: int, most: int, *, exact: bool) -> Decision:
    """Whether so many items may be in one plan; not `exact`: there may be more."""
    if count <= most:
        return Allowed()
    many = f"{count:,} items" if exact else f"More than {most:,} items"
    return Denied(
        kind=ErrorCode.PLAN_TOO_LARGE,
        sentence=f"{many} are in the set; a plan has {most:,} at most (setting plan.max-items). "
        "Narrow the filter, or make several plans.",
    )


def decide_change(name: str, owner: str, standing: PlanState, *, actor: str) -> Decision:
    """Whether `actor` may take items out of a plan, answer its warnings or drop it."""
    if owner != actor:
        return Denied(
            kind=ErrorCode.PERMISSION_MISSING,
            sentence=f"{name} is the plan of {owner}; nobody else changes or drops it.",
        )
    if standing is PlanState.OPEN:
        return Allowed()
    return Denied(kind=ErrorCode.PLAN_STATE, sentence=f"{name} is {standing}; only an open plan can be changed.")


def nothing_left(excluded: Mapping[Exclusion, int]) -> str:
    """What is said of a set of which every item is left out, with the count of each reason."""
    if not excluded:
        return "Nothing that waits matches. Nothing can go into a plan."
    reasons = ", ".join(f"{excluded[reason]:,} {_WORDS[reason]}" for reason in Exclusion if reason in excluded)
    return f"Nothing can go into the plan: {reasons}."


_WORDS: Mapping[Exclusion, str] = {
    Exclusion.UNKNOWN: "unknown",
    Exclusion.CLOSED: "closed",
    Exclusion.STATE_UNFIT: "in a state that is not fit",
    Exclusion.HELD: "held by others",
    Exclusion.IN_PLAN: "in a plan already",
    Exclusion.PUSHED_BY_OWNER: "pushed by you",
    Exclusion.CHANGED_BY_OWNER: "last changed by you",
    Exclusion.CURRENCY_WITHOUT_LIMITS: "in a currency without limits",
    Exclusion.TAKEN_OUT: "taken out",
}
