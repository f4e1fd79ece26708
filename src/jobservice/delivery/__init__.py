"""The ways in which people are told something outside the console (MONEY.md 14): by SMTP, by webhook, or into a folder.

`delivery_from` reads the one that an address names. Never decides who is told what.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from jobservice.delivery.addresses import Allowed, allowed_from
from jobservice.delivery.folder import Folder
from jobservice.delivery.letters import Delivery, DeliveryRefused, Letter, NotDelivered
from jobservice.delivery.mail import address
from jobservice.delivery.smtp import Encryption, Smtp
from jobservice.delivery.webhook import Webhook, secrets_from, webhook_from

__all__ = [
    "Allowed",
    "Delivery",
    "DeliveryRefused",
    "Letter",
    "NotDelivered",
    "Webhook",
    "allowed_from",
    "delivery_from",
    "secrets_from",
    "webhook_from",
]

_FORMS = "smtp://user:password@host:587/?from=jobs@example.org, smtps://..., https://hooks.example.org/jobs or file:///folder"
_PORTS = {Encryption.TLS: 465, Encryption.STARTTLS: 587, Encryption.NONE: 25}


def delivery_from(url: str, *, secrets: Sequence[bytes] = (), allowed: Allowed | None = None) -> Delivery:
    """The way that `url` names; DeliveryRefused with a sentence that repeats no password.

    `smtp://user:password@host:587/?from=jobs@example.org&starttls=required`: STARTTLS is required where nothing is
    said; `starttls=none` is for a server of this machine. `smtps://` is TLS from the first byte. `ca=/path` names the
    authorities to trust in place of the system's. `file:///folder` writes one .eml a letter. `https://` is a webhook, signed
    under `secrets`, at a public address or one that is `allowed`.
    """
    try:
        split = urlsplit(url) if url.isprintable() else None
        port = None if split is None else split.port
    except ValueError:
        split, port = None, None
    if split is None or split.fragment:
        raise DeliveryRefused(f"It is no address like {_FORMS}.")
    match split.scheme:
        case "file":
            return _folder(split)
        case "smtp" | "smtps":
            return _smtp(split, port)
        case "https":
            return webhook_from(url, secrets=secrets, allowed=allowed or Allowed())
    raise DeliveryRefused(f"It begins with smtp:, smtps:, https: or file:, like {_FORMS}.")


def _folder(split: SplitResult) -> Folder:
    path = Path(unquote(split.path))
    if split.netloc or split.query or not path.is_absolute() or path == Path("/"):
        raise DeliveryRefused("A folder is named whole, like file:///var/lib/jobs/mail.")
    return Folder(path=path)


def _smtp(split: SplitResult, port: int | None) -> Smtp:
    options = _options(split.query)
    host = split.hostname
    if not host or split.path not in ("", "/"):
        raise DeliveryRefused(f"It names no mail server like {_FORMS}.")
    sender = address(options.get("from", ""))
    if sender is None:
        raise DeliveryRefused("It says with `from=` whom letters come from, one address like jobs@example.org.")
    encryption = _encryption(split.scheme, options, host)
    user, password = _credentials(split)
    return Smtp(
        host=host,
        port=_PORTS[encryption] if port is None else port,
        sender=sender,
        encryption=encryption,
        user=user,
        password=password,
        context=None if encryption is Encryption.NONE else _authorities(options.get("ca")),
    )


def _options(query: str) -> Mapping[str, str]:
    # A plus sign is part of an address, and no blank.
    pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)
    options = dict(pairs)
    unknown = sorted(set(options) - {"from", "starttls", "ca"})
    if unknown or len(options) != len(pairs):
        raise DeliveryRefused("After the ? it has `from`, `starttls` and `ca` alone, each once.")
    return options


def _encryption(scheme: str, options: Mapping[str, str], host: str) -> Encryption:
    said = options.get("starttls")
    if scheme == "smtps":
        if said is not None:
            raise DeliveryRefused("smtps: is encrypted from the first byte; leave `starttls` out.")
        return Encryption.TLS
    if said in (None, "required"):
        return Encryption.STARTTLS
    if said != "none":
        raise DeliveryRefused("`starttls` is required or none.")
    if not _loopback(host):
        raise DeliveryRefused("`starttls=none` is for a mail server of this machine, like 127.0.0.1.")
    return Encryption.NONE


def _credentials(split: SplitResult) -> tuple[str | None, str | None]:
    user, password = (None if part is None else unquote(part) for part in (split.username, split.password))
    if (user is None) != (password is None) or user == "":
        raise DeliveryRefused("It has a user and a password, or neither.")
    if not (user or "").isprintable() or not (password or "").isprintable():
        raise DeliveryRefused("User and password have no control characters.")
    return user, password


def _authorities(path: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror or type(error).__name__
        raise DeliveryRefused(f"The authorities of `ca` cannot be read: {reason}.") from None


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
