"""The address of a way to deliver: each form that is taken, and a sentence for each that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobservice.delivery import DeliveryRefused, delivery_from
from jobservice.delivery.folder import Folder
from jobservice.delivery.smtp import Encryption, Smtp

FROM = "from=jobs@example.org"


@pytest.mark.parametrize(
    ("url", "host", "port", "encryption"),
    [
        (f"smtp://mail.test/?{FROM}", "mail.test", 587, Encryption.STARTTLS),
        (f"smtp://mail.test?{FROM}&starttls=required", "mail.test", 587, Encryption.STARTTLS),
        (f"smtps://mail.test:4650/?{FROM}", "mail.test", 4650, Encryption.TLS),
        (f"smtps://mail.test/?{FROM}", "mail.test", 465, Encryption.TLS),
        (f"smtp://[::1]/?{FROM}&starttls=none", "::1", 25, Encryption.NONE),
        (f"smtp://localhost:1025/?{FROM}&starttls=none", "localhost", 1025, Encryption.NONE),
    ],
)
def test_a_mail_server_is_named_with_its_encryption(url: str, host: str, port: int, encryption: Encryption) -> None:
    way = delivery_from(url)
    assert isinstance(way, Smtp)
    assert (way.host, way.port, way.encryption, way.sender) == (host, port, encryption, "jobs@example.org")
    assert (way.context is None) is (encryption is Encryption.NONE)


def test_a_plus_sign_and_escapes_are_read_as_they_are_meant() -> None:
    way = delivery_from("smtp://jobs%40a:p%2Fw+x@mail.test/?from=jobs+plans@example.org")
    assert isinstance(way, Smtp)
    assert (way.user, way.password, way.sender) == ("jobs@a", "p/w+x", "jobs+plans@example.org")
    assert delivery_from("file:///var/lib/jobs/mail") == Folder(path=Path("/var/lib/jobs/mail"))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mail.test", "It begins with smtp:, smtps:, https: or file:"),
        ("https://jobs:s3cret@mail.test/", "has no user, no password"),
        (f"smtp://jobs:s3cret@mail.test:x/?{FROM}", "It is no address"),
        (f"smtp://jobs:s3cret@mail.test/\r\n?{FROM}", "It is no address"),
        (f"smtp:///?{FROM}", "It names no mail server"),
        (f"smtp://jobs:s3cret@mail.test/more?{FROM}", "It names no mail server"),
        ("smtp://jobs:s3cret@mail.test/", "It says with `from=`"),
        ("smtp://jobs:s3cret@mail.test/?from=jobs", "It says with `from=`"),
        (f"smtp://jobs:s3cret@mail.test/?{FROM}&{FROM}", "After the ? it has"),
        (f"smtp://jobs:s3cret@mail.test/?{FROM}&tls=no", "After the ? it has"),
        (f"smtp://jobs:s3cret@mail.test/?{FROM}&starttls=no", "`starttls` is required or none"),
        (f"smtp://jobs:s3cret@mail.test/?{FROM}&starttls=none", "`starttls=none` is for a mail server of this machine"),
        (f"smtp://jobs:s3cret@10.0.0.7/?{FROM}&starttls=none", "`starttls=none` is for a mail server of this machine"),
        (f"smtps://jobs:s3cret@mail.test/?{FROM}&starttls=none", "leave `starttls` out"),
        (f"smtp://s3cret@mail.test/?{FROM}", "a user and a password, or neither"),
        (f"smtp://jobs:s3cret%0d%0aQUIT@mail.test/?{FROM}", "no control characters"),
        (f"smtp://jobs:s3cret@mail.test/?{FROM}&ca=/nowhere/ca.pem", "The authorities of `ca` cannot be read: No such"),
        ("file://mail/folder", "A folder is named whole"),
        ("file:mail", "A folder is named whole"),
        ("file:///", "A folder is named whole"),
    ],
)
def test_what_cannot_be_used_is_refused_without_repeating_a_password(url: str, sentence: str) -> None:
    with pytest.raises(DeliveryRefused) as refused:
        delivery_from(url)
    assert sentence in str(refused.value)
    assert "s3cret" not in str(refused.value)
