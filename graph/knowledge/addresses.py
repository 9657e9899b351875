"""Which addresses of the internet are public, those that carry another one inside included."""

import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# RFC 6052, RFC 8215 and RFC 4291: an IPv4 address inside an IPv6 one.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOW_HALF = (_NAT64, ipaddress.IPv6Network("64:ff9b:1::/48"), ipaddress.IPv6Network("::/96"))
_PROTOCOL = ipaddress.IPv4Network("192.0.0.0/24")  # RFC 6890; Python counts only a part of it as private
_AZURE_HOST = ipaddress.IPv4Address("168.63.129.16")  # public by its number, the machine's own keeper by use


def is_public(address: Address) -> bool:
    """Whether an address, and each IPv4 address embedded in it, can only be outside."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local or not all(map(is_public, _embedded(address))):
            return False
        if address.ipv4_mapped is not None or address in _NAT64:
            return True
    elif address == _AZURE_HOST or address in _PROTOCOL:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _LOW_HALF):
        yield low
    if (int(address) >> 32) & 0xFCFFFFFF == 0x00005EFE:  # ISATAP, RFC 5214
        yield low
