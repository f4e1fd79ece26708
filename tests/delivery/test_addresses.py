"""Which addresses a webhook may reach: the public ones, and what is listed."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from jobservice.delivery import DeliveryRefused, allowed_from
from jobservice.delivery.addresses import is_host, is_public


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "223.255.255.254", "2606:4700::1111", "2a00:1450::5"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104  # judged, and bound to nothing
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2001:0:7f00:1::",
        "2001:db8::1",
        "2002:7f00:1::",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "ff02::1",
    ],
)
def test_all_others_are_not_whatever_they_carry_inside(address: str) -> None:
    assert not is_public(ip_address(address))


def test_a_list_names_hosts_addresses_and_networks() -> None:
    allowed = allowed_from(" Hooks.Internal ,10.1.0.0/16, 127.0.0.1,fd00::/8,")
    assert allowed.holds("hooks.internal", ip_address("192.168.0.1"))
    assert allowed.holds("other", ip_address("10.1.2.3"))
    assert allowed.holds("other", ip_address("fd00::7"))
    assert allowed.holds("other", ip_address("8.8.8.8"))
    assert not allowed.holds("other", ip_address("10.2.0.1"))
    assert not allowed.holds("x.hooks.internal", ip_address("127.0.0.2"))


@pytest.mark.parametrize("text", ["10.1.0.1/16", "10.0.0.0/33", "a b", "https://hooks.internal", "*", "127.1"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(DeliveryRefused):
        allowed_from(text)


@pytest.mark.parametrize(
    ("text", "fit"),
    [("hooks.example.org", True), ("127.0.0.1", True), ("::1", True), ("localhost", True), ("", False)]
    + [(text, False) for text in ("2130706433", "127.1", "a..b", "-a", "a_b!", "x" * 64)],
)
def test_a_host_is_a_name_or_a_whole_address(text: str, fit: bool) -> None:
    assert is_host(text) is fit
