"""Owns reading how people and other machines are told something outside the console: notices, alarms. Tells nothing."""

from __future__ import annotations

from collections.abc import Sequence

from jobservice.delivery import (
    Allowed,
    Delivery,
    DeliveryRefused,
    Webhook,
    allowed_from,
    delivery_from,
    secrets_from,
    webhook_from,
)
from jobservice.settings import (
    DELIVERY_URL,
    PURPOSES,
    WEBHOOK_ALLOW,
    WEBHOOK_SECRET,
    WEBHOOK_URL,
    ProcessSettings,
    StartRefused,
)


def delivery_of(settings: ProcessSettings) -> Delivery | None:
    """The way to people; None where nobody said one, StartRefused where it cannot be used."""
    url = settings.delivery_url
    if url is None:
        return None
    hooked = url.startswith("https:")
    secrets = _secrets(settings, DELIVERY_URL) if hooked else ()
    try:
        return delivery_from(url, secrets=secrets, allowed=_allowed(settings))
    except DeliveryRefused as refused:
        raise StartRefused(f"{DELIVERY_URL} is not taken: {refused}") from None


def webhook_of(settings: ProcessSettings) -> Webhook | None:
    """Where alarms are told; None where nobody said, StartRefused where it cannot be used."""
    if settings.webhook_url is None:
        return None
    secrets = _secrets(settings, WEBHOOK_URL)
    try:
        return webhook_from(settings.webhook_url, secrets=secrets, allowed=_allowed(settings))
    except DeliveryRefused as refused:
        raise StartRefused(f"{WEBHOOK_URL} is not taken: {refused}") from None


def _secrets(settings: ProcessSettings, wanted_by: str) -> Sequence[bytes]:
    if settings.webhook_secret is None:
        raise StartRefused(f"{WEBHOOK_SECRET} is not set: {PURPOSES[WEBHOOK_SECRET]}. {wanted_by} needs it.")
    try:
        return secrets_from(settings.webhook_secret)
    except DeliveryRefused as refused:
        raise StartRefused(f"{WEBHOOK_SECRET} is not taken: {refused}") from None


def _allowed(settings: ProcessSettings) -> Allowed:
    try:
        return allowed_from(settings.webhook_allow)
    except DeliveryRefused as refused:
        raise StartRefused(f"{WEBHOOK_ALLOW} is not taken: {refused}") from None
