"""Owns what the keys of the key ring do: seal and open secrets, sign confirmations and verify them (MONEY.md 17, 19).

Pure: key bytes come from whoever reads the ring. Never logs, shows or keeps what it opened.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
_CONFIRMATION = b"jobs.confirmation.1\n"


class Unopenable(Exception):
    """A sealed secret that no key of the ring opens: another key, or not what was sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A secret at rest: which key sealed it, and nonce plus ciphertext."""

    key_id: str
    sealed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """An Ed25519 signature and the key that made it."""

    key_id: str
    signature: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The ring's keys by id: AES-256-GCM keys that seal, Ed25519 seeds (32 bytes) that sign; the current one of each."""

    seal_keys: Mapping[str, bytes]
    current_seal: str
    sign_keys: Mapping[str, bytes]
    current_sign: str

    def seal(self, person: str, purpose: str, secret: bytes) -> Sealed:
        """Seal a secret under the current key, bound to person, purpose and key id."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        cipher = AESGCM(self.seal_keys[self.current_seal])
        sealed = nonce + cipher.encrypt(nonce, secret, _bound(person, purpose, self.current_seal))
        return Sealed(key_id=self.current_seal, sealed=sealed)

    def open(self, person: str, purpose: str, sealed: Sealed) -> bytes:
        """The secret; Unopenable where no key opens it for that person and purpose."""
        key = self.seal_keys.get(sealed.key_id)
        if key is None:
            raise Unopenable(f"the key ring has no key {sealed.key_id!r}")
        nonce, text = sealed.sealed[:NONCE_BYTES], sealed.sealed[NONCE_BYTES:]
        try:
            return AESGCM(key).decrypt(nonce, text, _bound(person, purpose, sealed.key_id))
        except (InvalidTag, ValueError):
            raise Unopenable("the secret is not what was sealed for this person") from None

    def sign(self, plan: str, digest: bytes) -> Signature:
        """Sign that a plan of that digest was confirmed."""
        key = Ed25519PrivateKey.from_private_bytes(self.sign_keys[self.current_sign])
        return Signature(key_id=self.current_sign, signature=key.sign(confirmation_message(plan, digest)))

    def public(self) -> PublicKeys:
        """The halves of the signing keys that the Worker has."""
        halves = {
            key_id: Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
            for key_id, seed in self.sign_keys.items()
        }
        return PublicKeys(keys=halves)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKeys:
    """The public halves of the signing keys, by id: all that the Worker knows of the ring."""

    keys: Mapping[str, bytes]

    def verify(self, plan: str, digest: bytes, signature: Signature) -> bool:
        """Whether the API confirmed that plan with that digest."""
        key = self.keys.get(signature.key_id)
        if key is None:
            return False
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature.signature, confirmation_message(plan, digest))
        except (InvalidSignature, ValueError):
            return False
        return True


def confirmation_message(plan: str, digest: bytes) -> bytes:
    """The bytes that a confirmation signs: version tag, plan id, digest."""
    return _CONFIRMATION + plan.encode() + b"\n" + digest


def _bound(person: str, purpose: str, key_id: str) -> bytes:
    parts = [part.encode() for part in (person, purpose, key_id)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
