"""Owns which machines a webhook may reach: public addresses, and what the operator listed. A name is resolved once, and
every address that it has is judged. Opens no connection.

What is public is stated as what the registries of special addresses (IANA) leave: so no library's change of mind, and no
form that carries another address inside, opens a way to this machine's own network.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from jobservice.delivery.letters import DeliveryRefused, NotDelivered

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host and a port to every address it has, as text."""
_NAME = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*", re.ASCII
)
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
"""Of `_UNICAST_6`: protocols of their own, examples, and 6to4, which carries an address of the other kind inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Hosts, and networks, that may be reached although they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def holds(self, host: str, address: Address) -> bool:
        """Whether a host at that address may be reached."""
        return host in self.hosts or any(address in network for network in self.networks) or is_public(address)


def allowed_from(text: str) -> Allowed:
    """What is listed, with commas between: names, addresses, networks. DeliveryRefused for anything else."""
    hosts: set[str] = set()
    networks: list[IPv4Network | IPv6Network] = []
    for part in (each.strip().lower() for each in text.split(",")):
        if not part:
            continue
        try:
            networks.append(ip_network(part))
        except ValueError:
            if "/" in part or _NAME.fullmatch(part) is None or part.replace(".", "").isdigit():
                raise DeliveryRefused(
                    f"{part[:80]!r} is no host or network, like hooks.example.org, 10.1.0.0/16 or 127.0.0.1."
                ) from None
            hosts.add(part)
    return Allowed(hosts=frozenset(hosts), networks=tuple(networks))


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def is_host(text: str) -> bool:
    """Whether `text`, in small letters, is a name or an address."""
    try:
        ip_address(text)
    except ValueError:
        # What is digits alone is read by some resolvers as an address: 2130706433 is 127.0.0.1.
        return _NAME.fullmatch(text) is not None and not text.rpartition(".")[2].isdigit()
    return True


async def ask_system(host: str, port: int) -> Sequence[str]:
    """Every address of a host, as the system knows it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(each[4][0]) for each in found]


async def resolve(host: str, port: int, allowed: Allowed, resolver: Resolver) -> tuple[str, ...]:
    """The addresses of a host, asked for once; NotDelivered where it has none, or one that may not be reached."""
    try:
        found = [ip_address(each.partition("%")[0]) for each in await resolver(host, port)]
    except (OSError, UnicodeError, ValueError) as error:
        raise NotDelivered(f"{host} is no name that can be resolved: {type(error).__name__}.") from None
    if not found:
        raise NotDelivered(f"{host} has no address.")
    for address in found:
        if not allowed.holds(host, address):
            raise NotDelivered(
                f"{host} is at an address that is not public, and not listed as one that may be reached."
            )
    return tuple(dict.fromkeys(map(str, found)))
