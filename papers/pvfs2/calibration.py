"""Parameters of the machine from `calibration.csv`, and processor time of PVFS2 from `costs.csv`
and OrangeFS' source.

Each is the solution of one equation.
"""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "calibration.csv"

SHAPED = 4.0
"""A message that waited for the shaper takes its rate's time for each byte. Bytes that are only
copied must be faster than this many times that rate: 15 times on the measured machine."""

# What the shaper counts of a packet with 1,448 bytes of data (Linux, tbf counts Ethernet's
# header of 14 bytes, and neither preamble nor gap): IPv4 20, TCP 20, its time stamps 12.
DATA, HEADER, FRAMING = 1448, 52, 14


@dataclass(frozen=True)
class Serving:
    """Processor time of PVFS2 without the kernel's, in seconds: for a message, a job of a server,
    and an access to its storage."""

    message: float
    serve_read: float
    serve_write: float
    access: float


@dataclass(frozen=True)
class Parameters:
    """Parameters in seconds and bytes per second."""

    card: float
    message: float
    byte: float
    transfer: float
    serving: Serving

    def sets(self) -> dict[str, str]:
        """Return the parameters as fields of a scenario."""
        ends = {"send": "send", "receive": "receive"}
        fields = {f"hosts.cpu.{end}": f"{self.message / 2:.4g} s" for end in ends}
        # Nearly all calls that BMI makes besides are the receiver's.
        receive = self.message / 2 + self.serving.message
        fields["hosts.cpu.receive"] = f"{receive:.4g} s"
        for name in ("serve_read", "serve_write", "access"):
            fields[f"hosts.cpu.{name}"] = f"{getattr(self.serving, name):.4g} s"
        fields |= {f"hosts.cpu.{end}_rate": f"{2 / self.byte:.5g} B/s" for end in ends}
        for host in ("clients", "servers", "metadata"):
            fields[f"{host}.card.bandwidth"] = f"{self.card:.5g} B/s"
        fields["servers.machine.device.latency"] = f"{self.transfer:.4g} s"
        return fields


def calibrate(measured: Path = MEASURED) -> Parameters:
    """Solve the equations of the hosts' parameters.

    Raises
    ------
    ValueError
        If the file lacks a case, or if its smallest messages were shaped.
    """
    rows = pl.read_csv(measured)

    def value(case: str, size: int, column: str) -> float:
        found = rows.filter(pl.col("case") == case, pl.col("bytes") == size)
        if found.is_empty() or found[column][0] is None:
            raise ValueError(f"{measured}: expected a case {case} of {size} bytes with {column}")
        return float(found[column][0])

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
    if not 0 < SHAPED * byte * rate < 1:
        raise ValueError(
            f"{measured}: send_and_ack of 4096 bytes: p10_s is {quick[1]:.4g} s, of 1 byte"
            f" {quick[0]:.4g} s: expected more than 0 and less than"
            f" {4095 / (SHAPED * rate):.4g} s between them; the shaper delayed the small messages,"
            " or the file has no message that found tokens: measure with pauses between messages"
        )
    # A direct read within the limits' credit. (The rate itself, 40 MB/s, is known: the
    # medians of larger transfers are of a disk that has credit.)
    transfer = value("seqread_direct", 4096, "median_s")
    return Parameters(card, message, byte, transfer, serving(2 * message))


def serving(round_trip: float) -> Serving:
    """Estimate the processor time of PVFS2: steps counted in its source, times measured on a
    similar machine, scaled by the ratio of one-byte round trips."""
    rows = pl.read_csv(HERE / "costs.csv")

    def cost(step: str, at_once: int, column: str) -> float:
        row = rows.filter(pl.col("step") == step, pl.col("at_once") == at_once).row(0, named=True)
        return float(row[column])

    # That machine has other work too: its quietest repetition is the round trip.
    scale = round_trip / cost("plain", 1, "least_s")
    # With both cores busy, as they are where this binds.
    plain, bmi, both, thread, read, write = (
        scale * cost(step, 4, "cpu_median_s")
        for step in ("plain", "bmi", "hand-over", "thread", "read", "write")
    )
    # Each waits for the other: two in a round.
    hand_over = both / 2
    # bmi-tcp.c, tcp_do_work and tcp_do_work_recv: epoll_wait, the header looked at and then
    # read, the rest read, the socket's flags before each. Two messages a round.
    message = (bmi - plain) / 2
    # thread-mgr.c, bmi_thread_function: its thread gives a request to the main one
    # (pvfs2-server.c, job_testcontext); trove_thread_function, another, gives it the end of
    # the job. The file itself is read once at the least.
    serve_read = 2 * hand_over + read
    # dbpf-bstream.c, dbpf_bstream_rw_list: a write forgets the attributes in the cache, so
    # that the next request's prelude.sm, prelude_getattr_if_needed, has dbpf-thread.c's
    # thread read them, which gives them to the one of thread-mgr.c, and that to the main one.
    serve_write = (2 + 3) * hand_over + write
    # dbpf-alt-aio.c, alt_lio_listio: a thread, which gives its end to thread-mgr.c's. A flow's
    # (flowproto-multiqueue.c, trove_read_callback_fn) sends from there.
    return Serving(message, serve_read, serve_write, access=thread)


if __name__ == "__main__":
    print(calibrate())
