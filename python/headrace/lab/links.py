"""Links between hosts: veth pairs into a bridge, with a token bucket at both ends."""

from headrace.lab.hosts import Hosts
from headrace.lab.plan import NETWORK, Host, Link

SWITCH = "switch"
"""Name of the bridge, and of the host that has it."""
CARD = "eth0"

ETHERNET = 14
"""Size of the frame header that the kernel counts itself, in bytes."""
FEWEST_PACKETS = 3
"""Smallest size of a bucket, in packets."""
TICK_S = 1e-3
"""Further size of a bucket, as time at the link's rate in seconds; timers fire late."""


def make_switch(hosts: Hosts) -> None:
    """Create the bridge.

    Raises
    ------
    RunError
        If a command fails.
    """
    hosts.run(SWITCH, "ip", "link", "add", SWITCH, "type", "bridge")
    hosts.run(SWITCH, "ip", "link", "set", "dev", SWITCH, "up")


def join(hosts: Hosts, host: Host) -> None:
    """Connect a host to the bridge.

    Both ends are created in namespaces of the testbed, never in that of the machine.

    Raises
    ------
    RunError
        If a command fails.
    """
    link = host.link
    if link is None:
        return
    mtu = str(link.mtu)
    peer = ("peer", "name", host.name, "mtu", mtu, "netns", str(hosts.holder(SWITCH)))
    hosts.run(host.name, "ip", "link", "add", CARD, "mtu", mtu, "type", "veth", *peer)
    hosts.run(host.name, "ip", "address", "add", f"{host.address}/{NETWORK.prefixlen}", "dev", CARD)
    hosts.run(SWITCH, "ip", "link", "set", "dev", host.name, "master", SWITCH)
    for end, device in ((host.name, CARD), (SWITCH, host.name)):
        # Without segmentation offload packets pass one by one, as on a wire.
        hosts.run(end, "ip", "link", "set", "dev", device, "gso_max_segs", "1", "up")
        hosts.run(end, "tc", "qdisc", "add", "dev", device, "root", *bucket(link))


def bucket(link: Link) -> list[str]:
    """Return the arguments of the token bucket at one end of a link (tc-tbf(8))."""
    overhead = link.framing - ETHERNET
    sizes = ["stab", "mtu", str(link.mtu + link.framing + 1), "overhead", str(overhead)]
    words = [*sizes, "linklayer", "ethernet", "tbf", "rate", f"{8 * link.rate:.0f}bit"]
    least = FEWEST_PACKETS * (link.mtu + link.framing)
    if link.burst is None:
        words += ["burst", str(max(least, round(link.rate * TICK_S)))]
    else:
        peak = max(least, round(link.peak * TICK_S))
        words += ["burst", str(max(link.burst, least))]
        words += ["peakrate", f"{8 * link.peak:.0f}bit", "mtu", str(peak)]
    return [*words, "limit", str(max(link.queue, least))]
