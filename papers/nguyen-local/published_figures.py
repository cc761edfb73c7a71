"""Results of Nguyen 2011, chapter 5, for its local file system, in KB/s of 1024 bytes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One published comparison: tables 5 to 12."""

    what: str
    table: str
    simulated: float
    measured: float

    @property
    def error(self) -> float:
        """Relative error of the authors' simulation."""
        return self.simulated / self.measured - 1


RANDOM_READ = Published("random read, 8 KB", "5", 757_791.04, 631_162.80)
RANDOM_WRITE = Published("random write, 8 KB, ordered", "6", 199_004.98, 147_995.60)
TRACE_READS = {
    "read-1": Published("trace 1, read", "7", 873_238.11, 991_969.14),
    "read-2": Published("trace 2, read", "7", 876_237.20, 1_008_167.15),
}
TRACE_WRITES = {
    "write-1": Published("trace 1, write, ordered", "8", 146_644.10, 207_203.0),
    "write-2": Published("trace 2, write, ordered", "8", 146_813.74, 180_783.2),
}
JOURNAL_RANDOM = Published("random write, 8 KB, data journal", "9", 30_016.45, 26_470.4)
JOURNAL_TRACES = {
    "write-1": Published("trace 1, write, data journal", "10", 51_417.04, 46_470.4),
    "write-2": Published("trace 2, write, data journal", "10", 63_660.53, 56_593.0),
}
SYNCHRONOUS_RANDOM = Published("random write, 8 KB, synchronous", "11", 6_689.75, 5_388.8)
SYNCHRONOUS_TRACES = {
    "write-1": Published("trace 1, write, synchronous", "12", 18_196.46, 14_856.8),
    "write-2": Published("trace 2, write, synchronous", "12", 25_633.22, 20_628.2),
}

DROPS = {512: 64, 1024: 128, 2048: 256, 4096: 512}
"""Table 2: the largest block, in KB, before copying slows, by second-level cache in KB."""
