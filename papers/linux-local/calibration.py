"""Parameters of the machine, from `calibration.csv` only.

Each is the solution of one equation per measured case, or the median of several.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

import polars as pl

HERE = Path(__file__).resolve().parent
PAGE = 4096
SYSTEM = ("fs", "journal", "disk")
CASE = (*SYSTEM, "group", "case", "file_bytes", "block_bytes", "count", "state")

# Processor time of a name, in seconds, on a machine of the same kind times the ratio of the two
# machines' system calls. On ext3 and ext4 a create takes 16.1 us there and an unlink 9.0 us; on XFS
# 17.8 and 16.3 us, the medians of the twins in tests/data/twins.
NAMES = {"ext3": (11e-6, 3.5e-6), "ext4": (11e-6, 3.5e-6)}
NAMES["xfs"] = (11e-6 * 17.8 / 16.1, 3.5e-6 * 16.3 / 9.0)

# What a page of a buffer costs more when it comes from further away, in seconds: no
# calibrated block is larger than the L2, so this is from the processor's data. A core
# of these Xeons (Sapphire Rapids) waits for 48 lines at a time beyond its L2 (Intel 64
# and IA-32 Architectures Optimization Reference Manual, Golden Cove), some 70 ns each
# from the L3 and 110 ns from memory (chipsandcheese.com, A Peek at Sapphire Rapids).
LINES, AT_A_TIME = PAGE / 64, 48
FROM_L3 = LINES / AT_A_TIME * 70e-9
FROM_MEMORY = LINES / AT_A_TIME * 110e-9


def medians(name: str) -> pl.DataFrame:
    """Return the cases of a file: median, minimum and maximum seconds of the repetitions."""
    frame = pl.read_csv(HERE / f"{name}.csv")
    seconds = pl.col("seconds")
    return frame.group_by(*CASE, maintain_order=True).agg(
        seconds.median().alias("seconds"),
        seconds.min().alias("least"),
        seconds.max().alias("most"),
        pl.col("bytes").first(),
        pl.col("ops").first(),
    )


@dataclass(frozen=True)
class Parameters:
    """Parameters in seconds."""

    system_call: float
    copy_page: float
    write_call: float
    write_page: float
    new_page: float
    transfer: float
    flush: float
    create: float
    unlink: float

    def sets(self) -> dict[str, str]:
        """Return the parameters as fields of a scenario."""
        return {
            "machine.cpu.system_call": f"{self.system_call:.4g} s",
            "machine.copying.page_in_l2": f"{self.copy_page:.4g} s",
            "machine.copying.page_in_l3": f"{self.copy_page + FROM_L3:.4g} s",
            "machine.copying.page_in_memory": f"{self.copy_page + FROM_MEMORY:.4g} s",
            "machine.file_system.write_call": f"{self.write_call:.4g} s",
            "machine.file_system.write_page": f"{self.write_page:.4g} s",
            "machine.file_system.new_page": f"{self.new_page:.4g} s",
            "machine.file_system.create": f"{self.create:.4g} s",
            "machine.file_system.unlink": f"{self.unlink:.4g} s",
            "machine.device.latency": f"{self.transfer:.4g} s",
            "machine.device.flush": f"{self.flush:.4g} s",
        }


def calibrate(fs: str) -> Parameters:
    """Solve for a file system's parameters on the disk of 60 MB/s, in ordered mode if it has one.

    XFS was calibrated with direct calls and fsync only. Its calls through the page cache are
    assumed to cost the same as those of ext4.
    """
    cached = "ext4" if fs == "xfs" else fs

    def per_call(case: str, state: str, block: int) -> float:
        row = (
            medians("calibration")
            .filter(
                pl.col("fs") == (fs if state == "direct" else cached),
                pl.col("journal").is_in(["ordered", "-"]),
                pl.col("disk") == "seq60",
                pl.col("case") == case,
                pl.col("state") == state,
                pl.col("block_bytes") == block,
            )
            .row(0, named=True)
        )
        return float(row["seconds"] / row["ops"])

    blocks = (4096, 65536, 1 << 20)
    pages = [block // PAGE for block in blocks]

    # A call for one byte costs the call.
    system_call = per_call("byte_read", "warm", 1)
    reads = [per_call("seqread", "warm", block) for block in blocks]
    copy_page = median(
        (read - system_call) / count for read, count in zip(reads, pages, strict=True)
    )
    # A rewrite costs a time per call and a time per page: the line through the smallest
    # and the largest calls.
    rewrites = [per_call("overwrite", "warm", block) for block in blocks]
    slope = (rewrites[2] - rewrites[0]) / (pages[2] - pages[0])
    write_page = max(0.0, slope - copy_page)
    write_call = rewrites[0] - system_call - slope
    news = [per_call("seqwrite", "fresh", block) for block in blocks]
    call = system_call + write_call
    new_page = median(
        max(0.0, (new - call) / count - copy_page) for new, count in zip(news, pages, strict=True)
    )
    # A direct read of one page inside the limits' credit costs its call and the
    # way through the device.
    transfer = per_call("randread_direct", "direct", 4096) - system_call
    # An append of 4 KiB with fsync on XFS waits for its data and for the log's
    # record between two flushes. (On ext3 and ext4 it writes so much more that the
    # limit of bytes hides the flushes.)
    appends = medians("calibration").filter(
        pl.col("fs") == "xfs", pl.col("disk") == "seq60", pl.col("case") == "append_fsync"
    )
    append = appends.row(0, named=True)
    flush = (append["seconds"] / append["ops"] - 2 * transfer) / 2
    create, unlink = NAMES[fs]
    return Parameters(
        system_call,
        copy_page,
        write_call,
        write_page,
        new_page,
        transfer,
        flush,
        create=create,
        unlink=unlink,
    )


if __name__ == "__main__":
    for fs in NAMES:
        print(fs, calibrate(fs))
