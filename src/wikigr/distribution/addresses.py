"""Resolve the host of a download and check its addresses, to prevent server-side request forgery.

A redirect must not reach the local network: services on this machine, the router, a cloud's metadata service. A host
name can resolve to any address and an address can be written in many forms, so the host is resolved here, every address
is checked, and the connection goes to a checked address only. The URL that the user gave is not checked.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from wikigr.errors import WikigrError

_SHARED = ip_network("100.64.0.0/10")
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
# Special-purpose ranges of the IANA registries (RFC 6890, RFC 9637) that some supported Python versions do not know.
_PROTOCOLS = ip_network("192.0.0.0/24")
_ANYCAST = (ip_address("192.0.0.9"), ip_address("192.0.0.10"))
_DOCUMENTATION = ip_network("3fff::/20")


class AddressError(WikigrError):
    """A host cannot be resolved, or has an address to which a download must not connect."""


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of ``host`` in the order of the resolver; raises ``AddressError`` if there is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressError(
            f"Cannot resolve the host {host!r}: {getattr(error, 'strerror', None) or error}.",
            hint="Check the URL and your network. Proxies are not used.",
        ) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def require_public(host: str, addresses: Sequence[str], *, allow_private: bool) -> None:
    """Raise ``AddressError`` when one of the addresses of ``host`` is not public.

    ``allow_private`` also permits private and loopback addresses, but never link-local or multicast ones.
    """
    for address in addresses:
        if not is_allowed(address, allow_private=allow_private):
            private = is_allowed(address, allow_private=True)
            raise AddressError(
                f"The host {host!r} resolves to {address}, which is not an address of the public internet.",
                hint="--allow-private permits addresses of your own network." if private else None,
            )


def is_allowed(text: str, *, allow_private: bool) -> bool:
    """Return whether a download may connect to the address ``text``."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        embedded = _embedded_ipv4(address)
        if embedded is not None:
            return is_allowed(str(embedded), allow_private=allow_private)
    # In the ipaddress module, most multicast addresses are global, and link-local ones are private.
    if address.is_multicast or address.is_link_local or address.is_unspecified:
        return False
    if address in _DOCUMENTATION or (address in _PROTOCOLS and address not in _ANYCAST):
        return False
    if allow_private and (address.is_loopback or _is_private(address)):
        return True
    return address.is_global and not address.is_reserved and not getattr(address, "is_site_local", False)


def is_loopback(text: str) -> bool:
    """Return whether ``text`` is a loopback address."""
    return ip_address(text).is_loopback


def _is_private(address: IPv4Address | IPv6Address) -> bool:
    """Return whether ``address`` belongs to the private network of a home, a company or a provider."""
    ranges = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
    return address in _SHARED or any(address in ip_network(text) for text in ranges)


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address embeds (mapped, 6to4, Teredo, NAT64 or compatible)."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
