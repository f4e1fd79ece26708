"""Owns a letter as an e-mail (RFC 5322): which headers it has, and that nothing in it can add another.

Sends nothing, reads no clock.
"""

from __future__ import annotations

import re
import unicodedata
from email.message import EmailMessage
from email.policy import SMTP

from jobservice.delivery.letters import Letter

ADDRESS_MOST = 254
"""Most characters of an address (RFC 5321, 4.5.3.1.3, less the angle brackets)."""
SUBJECT_MOST = 200
_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9.-]+)", re.ASCII
)


def address(text: str) -> str | None:
    """One plain address, its domain as mail servers write it; None where `text` is anything else."""
    local, at, domain = text.strip().rpartition("@")
    try:
        plain = f"{local}{at}{domain.encode('idna').decode('ascii')}"
    except UnicodeError:
        return None
    return plain if len(plain) <= ADDRESS_MOST and _ADDRESS.fullmatch(plain) else None


def mail(letter: Letter, *, sender: str, receiver: str) -> EmailMessage:
    """The e-mail; `sender` and `receiver` are addresses as `address` gives them."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = receiver
    message["Subject"] = _line(letter.subject)[:SUBJECT_MOST]
    message["Date"] = letter.at
    message["Message-ID"] = f"<notice-{letter.id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody's holiday note answers it
    message.set_content("".join(f"{_line(line)}\n" for line in letter.text.splitlines()))
    return message


def _line(text: str) -> str:
    """The text on one line, without what a mail program or a terminal would obey."""
    return "".join(" " if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") else sign for sign in text)
