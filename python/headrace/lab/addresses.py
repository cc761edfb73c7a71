"""The addresses of a laboratory's hosts. Each laboratory has a network of its own, which no other
is joined to, so all may have the same."""

import ipaddress
from collections.abc import Iterable

from headrace.lab.plan import Host

NETWORK = ipaddress.ip_network("198.18.0.0/15")
"""For tests of network devices (RFC 2544, appendix C.2.2)."""


def address(number: int) -> str:
    """That of a host."""
    return str(NETWORK[number + 1])


def hosts_file(hosts: Iterable[Host]) -> str:
    """Names and addresses, as /etc/hosts has them."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{host.address or '127.0.1.1'} {host.name}" for host in hosts]
    return "\n".join(lines) + "\n"
