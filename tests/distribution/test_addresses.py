from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.distribution.addresses import AddressError, is_allowed, require_public, resolve

PUBLIC = [
    "93.184.216.34", "8.8.8.8", "192.0.0.9", "192.0.0.10", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
    "::127.0.0.1",
]  # fmt: skip
NEVER = [
    "0.0.0.0", "169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1",
    "198.51.100.1", "203.0.113.1", "198.18.0.1", "0.1.2.3", "::", "fe80::1", "fe80::1%1", "ff02::1", "fec0::1",
    "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a9fe:a9fe::", "2001:db8::1", "100::1",
    "2001:0:0:0:0:0:5601:5601", "192.0.0.1", "192.0.0.8", "192.0.0.11", "192.0.0.255", "::ffff:192.0.0.8", "3fff::1",
    "3fff:fff:ffff::1",
]  # fmt: skip


def test_addresses() -> None:
    """Private addresses are allowed only on request; reserved addresses and those of cloud metadata never are."""
    assert [address for address in PUBLIC if not is_allowed(address, allow_private=False)] == []
    assert [address for address in PRIVATE + NEVER if is_allowed(address, allow_private=False)] == []
    assert [address for address in PRIVATE if not is_allowed(address, allow_private=True)] == []
    assert [address for address in NEVER if is_allowed(address, allow_private=True)] == []


@given(st.ip_addresses(v=4))
def test_an_address_in_another_form_is_judged_as_itself(address: ipaddress.IPv4Address) -> None:
    allowed = is_allowed(str(address), allow_private=False)
    number = int(address)
    assert not (allowed and not address.is_global)
    assert is_allowed(f"::ffff:{address}", allow_private=False) == allowed
    assert is_allowed(str(ipaddress.IPv6Address((0x64FF9B << 96) | number)), allow_private=False) == allowed
    assert is_allowed(str(ipaddress.IPv6Address((0x2002 << 112) | (number << 80))), allow_private=False) == allowed


def loopback_hosts() -> list[str]:
    return ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"]


def test_a_host_is_judged_by_its_addresses(subtests: pytest.Subtests) -> None:
    for host in loopback_hosts():
        with subtests.test(host=host):
            with pytest.raises(AddressError, match=r"not an address of the public internet|Cannot resolve") as caught:
                require_public(host, resolve(host, 443), allow_private=False)
            assert "--allow-private" in (caught.value.hint or "") or "Cannot resolve" in caught.value.message


def test_one_private_address_among_public_ones_is_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(host: str, port: int, **_: object) -> list[object]:
        found = ["93.184.216.34", "10.0.0.1"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    with pytest.raises(AddressError, match=r"10\.0\.0\.1"):
        require_public("mixed.example", resolve("mixed.example", 443), allow_private=False)


@pytest.mark.parametrize("host", ["nothing.invalid", "a" * 64 + ".example", "."])
def test_an_unknown_host_is_an_error(host: str) -> None:
    with pytest.raises(AddressError, match="Cannot resolve"):
        resolve(host, 443)
