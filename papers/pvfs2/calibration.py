"""The machine's parameters, from `calibration.csv` and from nothing else.

Each is the solution of one equation.
"""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent

# What the shaper counts of a packet with 1,448 bytes of data (Linux, tbf counts Ethernet's
# header of 14 bytes, and neither preamble nor gap): IPv4 20, TCP 20, its time stamps 12.
DATA, HEADER, FRAMING = 1448, 52, 14


@dataclass(frozen=True)
class Parameters:
    """Seconds and bytes a second."""

    card: float
    message: float
    byte: float
    transfer: float

    def sets(self) -> dict[str, str]:
        """The same, as a scenario's fields."""
        ends = {"send": "send", "receive": "receive"}
        fields = {f"hosts.cpu.{end}": f"{self.message / 2:.4g} s" for end in ends}
        fields |= {f"hosts.cpu.{end}_rate": f"{2 / self.byte:.5g} B/s" for end in ends}
        for host in ("clients", "servers", "metadata"):
            fields[f"{host}.card.bandwidth"] = f"{self.card:.5g} B/s"
        fields["servers.machine.device.latency"] = f"{self.transfer:.4g} s"
        return fields


def calibrate() -> Parameters:
    """The parameters of the hosts."""
    rows = pl.read_csv(HERE / "calibration.csv")

    def value(case: str, size: int, column: str) -> float:
        row = rows.filter(pl.col("case") == case, pl.col("bytes") == size).row(0, named=True)
        return float(row[column])

    # Messages longer than the bucket take the shaper's time for each byte.
    small, large = 1 << 16, 8 << 20
    times = [value("send_and_ack", size, "median_s") for size in (small, large)]
    rate = (large - small) / (times[1] - times[0])
    card = rate * (DATA + HEADER + FRAMING) / DATA
    # A byte there and a byte back are two messages.
    message = value("send_and_ack", 1, "median_s") / 2
    # The tenth part of the 4 KiB messages found tokens in the bucket: what they take more
    # than a byte is copied, not shaped.
    quick = [value("send_and_ack", size, "p10_s") for size in (1, 4096)]
    byte = (quick[1] - quick[0]) / 4095
    # A direct read within the limits' credit. (The rate itself, 40 MB/s, is known: the
    # medians of larger transfers are of a disk that has credit.)
    transfer = value("seqread_direct", 4096, "median_s")
    return Parameters(card, message, byte, transfer)


if __name__ == "__main__":
    print(calibrate())
