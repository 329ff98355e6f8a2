"""Which addresses a download may connect to.

A URL, or a redirect, must not reach into the network that this machine stands in: its own services, its router, a
cloud's metadata service. What counts is the address that a name stands for, in whatever form the URL writes it, so
the name is resolved here, and the connection is made to what was checked and to nothing else.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from wikigr.errors import WikigrError

_SHARED = ip_network("100.64.0.0/10")
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
# Of special purpose in the registries of IANA (RFC 6890, RFC 9637); not every Python that runs this knows of them.
_PROTOCOLS = ip_network("192.0.0.0/24")
_ANYCAST = (ip_address("192.0.0.9"), ip_address("192.0.0.10"))
_DOCUMENTATION = ip_network("3fff::/20")


class AddressError(WikigrError):
    """A host has no address, or one that a download must not connect to."""


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the addresses of ``host``, in the order of the resolver, every one of them checked.

    Raises ``AddressError`` when the host is unknown, or when a single one of its addresses is not public;
    ``allow_private`` permits private and loopback addresses too, but never link-local or multicast ones.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressError(
            f"The host {host!r} cannot be found: {getattr(error, 'strerror', None) or error}.",
            hint="Check the URL and your network. Proxies are not used.",
        ) from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not is_allowed(address, allow_private=allow_private):
            private = is_allowed(address, allow_private=True)
            raise AddressError(
                f"The host {host!r} stands for {address}, which is no address of the public internet.",
                hint="--allow-private permits addresses of your own network." if private else None,
            )
    return addresses


def is_allowed(text: str, *, allow_private: bool) -> bool:
    """Tell whether a download may connect to the address ``text``."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_allowed(str(inner), allow_private=allow_private)
    # Python counts most multicast addresses as global, and link-local ones as private too.
    if address.is_multicast or address.is_link_local or address.is_unspecified:
        return False
    if address in _DOCUMENTATION or (address in _PROTOCOLS and address not in _ANYCAST):
        return False
    if allow_private and (address.is_loopback or _is_private(address)):
        return True
    return address.is_global and not address.is_reserved and not getattr(address, "is_site_local", False)


def is_loopback(text: str) -> bool:
    """Tell whether the address ``text`` is of this machine alone."""
    return ip_address(text).is_loopback


def _is_private(address: IPv4Address | IPv6Address) -> bool:
    """Tell whether ``address`` is of a home's, a company's or a provider's own network."""
    ranges = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
    return address in _SHARED or any(address in ip_network(text) for text in ranges)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, whatever the way."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
