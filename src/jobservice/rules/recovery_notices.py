"""Owns the words of notices about recoveries: what whoever confirmed one that moves money is told outside the console
(MONEY.md 14). Words in, words out; never a code or a digest."""

from __future__ import annotations

from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import Recovery
from jobservice.rules.limits import amount
from jobservice.rules.notices import Words

_HELD = {
    False: "Confirmed plans hold waiting, and it has them tried again now:",
    True: "It makes these jobs anew. The plans behind them released:",
}
_NOTHING_HELD = {
    False: "No confirmed plan holds anything waiting for it.",
    True: "It makes these jobs anew. The plans behind them released nothing.",
}


def recovery_confirmed(recovery: Recovery) -> Words:
    """To whoever confirmed: what runs again, what may go out by it, how to stop it."""
    rows = "1 row" if recovery.count == 1 else f"{recovery.count:,} rows"
    held = [f"  {amount(each.out_minor, each.currency)} in {each.count:,}" for each in recovery.money]
    retries = recovery.act is RecoveryAct.RETRY
    lines = [
        f"In {recovery.tenant} recovery {recovery.name} was confirmed in your name, with the code from your phone.",
        f"It has {rows}: {_plain(recovery.words)}.",
        f"Reason: {_plain(recovery.reason)}",
        *([_HELD[retries], *held] if held else [_NOTHING_HELD[retries]]),
        "If that was not you, stop it now; anybody in finance or operations can:",
        f"  jobconsole recoveries abort {recovery.name} --reason REASON",
        "  jobconsole money stop --reason REASON",
        "Then have your token revoked.",
    ]
    return Words(
        kind="recovery-confirmed", subject=f"You confirmed {recovery.name}: {rows}", text="\n".join(lines) + "\n"
    )


def _plain(text: str) -> str:
    """Without control characters: what people wrote adds no line to a notice."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
