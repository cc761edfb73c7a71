"""Addresses of servers."""

import ipaddress


def is_loopback(address: str) -> bool:
    """Return whether only this host reaches an address, which may be in brackets."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False
