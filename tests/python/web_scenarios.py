"""Scenarios for tests of the pages: one that is simulated at once, and one that takes for ever."""

_SCENARIO = """\
name = "{name}"
[clients]
count = 2
[servers]
count = 2
[servers.device]
kind = "simple"
read_rate = "60 MB/s"
write_rate = "60 MB/s"
[network]
topology = "pairs"
bandwidth = "1 Gbit/s"
latency = "0.2 ms"
[layout]
unit = "256 KiB"
[[workload]]
kind = "ior"
block = "1 MiB"
files = {files}
phases = ["write"]
[run]
stop = {{ time = "{seconds} s" }}
"""
SHORT = _SCENARIO.format(name="short", files=2, seconds=10)
UNENDING = _SCENARIO.format(name="unending", files=100_000_000, seconds=10_000_000)
"""It ends when it is stopped."""
