"""Monitors: figures of hosts over time, and states that rules derive from them.

Wang 2002, section 4.3, has monitors of the network, disks, processors and protocols; memory is
named in 4.1. `agent` and what it uses need only the standard library, so that a monitored host
needs nothing else.
"""
