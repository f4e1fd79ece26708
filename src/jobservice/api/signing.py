"""Owns what the API signs and digests with its one signing key: sub-keys, body digests, signed cursors.

Never shows a key and never lets one purpose's signature pass for another's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence

from jobcontract.errors import ErrorCode, Refusal

KEY_LEAST = 32
"""Fewest bytes of a signing key (RFC 2104: no shorter than the hash's output)."""
CURSOR_MAX = 2_000
"""Most characters of a cursor."""
_MAC_BYTES = 32


class Signer:
    """Digests and signatures under one signing key; ValueError for a key shorter than `KEY_LEAST` bytes."""

    def __init__(self, signing_key: bytes) -> None:
        if len(signing_key) < KEY_LEAST:
            raise ValueError(f"the signing key has {len(signing_key)} bytes; it needs {KEY_LEAST} or more")
        self._bodies = _mac(signing_key, b"jobs.idempotency.1")
        self._cursors = _mac(signing_key, b"jobs.cursor.1")

    def digest(self, body: bytes) -> bytes:
        """Keyed digest of a request body, 32 bytes: tells two bodies apart and reveals neither (MONEY.md 32)."""
        return _mac(self._bodies, body)

    def cursor(self, context: Sequence[str], after: Sequence[str | int]) -> str:
        """The cursor of the page behind `after`. `context` is all it is good for: listing, tenant, person, filters."""
        body = json.dumps(list(after), separators=(",", ":"), ensure_ascii=True).encode()
        return base64.urlsafe_b64encode(self._sign(context, body) + body).rstrip(b"=").decode()

    def after(self, context: Sequence[str], cursor: str) -> tuple[str | int, ...]:
        """What `cursor` was made with; Refusal CURSOR_INVALID unless it was made here, for this very context."""
        raw = _decode(cursor)
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._sign(context, body)):
            raise _invalid()
        return tuple(json.loads(body))

    def _sign(self, context: Sequence[str], body: bytes) -> bytes:
        # Each part with its length: no two contexts can be written as the same bytes.
        parts = [part.encode("utf-8") for part in context]
        head = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return _mac(self._cursors, len(parts).to_bytes(4, "big") + head + body)


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _decode(cursor: str) -> bytes:
    if not cursor.isascii() or len(cursor) > CURSOR_MAX:
        raise _invalid()
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as broken:
        raise _invalid() from broken
    # One text a cursor: base64 would accept stray last bits, and then two texts would be the same cursor.
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != cursor:
        raise _invalid()
    return raw


def _invalid() -> Refusal:
    return Refusal(
        ErrorCode.CURSOR_INVALID,
        "The cursor is not one of this listing, tenant, person and filter. Start again from the first page.",
    )
