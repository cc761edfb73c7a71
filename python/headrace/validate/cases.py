"""Validation cases: workloads that are predicted after a calibration.

Their block sizes, patterns and numbers of processes differ from those of the probes and checks
(`headrace.calibrate`). To add a case, add it to the list.
"""

from headrace.calibrate.case import (
    COLD,
    DIRECT,
    KIB,
    MIB,
    NAMES,
    NEW,
    OWN_FILES,
    RANDOM,
    SYNCHRONOUS,
    WARM,
    Case,
    transfers,
)


def _cached() -> list[Case]:
    cases = [
        Case(
            f"cached reads of {block // KIB} KiB",
            "cache",
            transfers(48 * MIB, block, ["read"], WARM, {}),
        )
        for block in (12 * KIB, 24 * KIB, 384 * KIB, 1536 * KIB)
    ]
    cases += [
        Case(
            f"cached random reads of {block // KIB} KiB",
            "cache",
            transfers(48 * MIB, block, ["read"], WARM, RANDOM | {"requests": "2000"}),
        )
        for block in (12 * KIB, 96 * KIB)
    ]
    cases += [
        Case(
            f"rewrites of {block // KIB} KiB",
            "cache",
            transfers(24 * MIB, block, ["write"], WARM, {}),
        )
        for block in (16 * KIB, 256 * KIB)
    ]
    cases += [
        Case(
            f"new writes of {block // KIB} KiB",
            "cache",
            transfers(24 * MIB, block, ["write"], NEW, {}),
        )
        for block in (16 * KIB, 256 * KIB)
    ]
    # Small enough to fit in the L3 cache.
    cases += [
        Case(
            f"{label} of 48 KiB in 6 MiB",
            "cache",
            transfers(6 * MIB, 48 * KIB, [way], WARM, RANDOM | {"requests": "4000"}),
        )
        for label, way in (("cached random reads", "read"), ("random rewrites", "write"))
    ]
    # The lists of buffer heads of its folios take 6.8 MB
    # (crates/storage/src/localfs/last_level_cache.rs).
    cases.append(
        Case(
            "random rewrites of 32 KiB in 256 MiB",
            "cache",
            transfers(256 * MIB, 32 * KIB, ["write"], WARM, RANDOM | {"requests": "1000"}),
        )
    )
    cases.append(
        Case(
            "cached reads and rewrites of 16 KiB, 70:30",
            "cache",
            transfers(
                32 * MIB,
                16 * KIB,
                ["mixed"],
                WARM,
                RANDOM | {"requests": "2000", "read_share": "0.7"},
            ),
        )
    )
    cases += [
        Case(
            f"{count} processes, cached reads of 64 KiB",
            "cache",
            # Six passes: one takes 10 to 20 ms and mainly shows the scheduler's first placement.
            # With 8 processes on two processors a call took 7.7 to 12.9 us in one pass, 8.1 to 9.3
            # in six.
            transfers(size * MIB, 64 * KIB, ["read"] * 6, WARM, OWN_FILES),
            processes=count,
        )
        for count, size in ((2, 96), (8, 48))
    ]
    cases.append(
        Case(
            "names of 600 files",
            "cache",
            f'{NAMES}\nfiles = 600\nbytes = "0 B"\nphases = ["create", "stat", "unlink"]',
        )
    )
    return cases


def _on_device() -> list[Case]:
    """Return cases that run for some 0.5 s at 2,000 operations or 150 MB per second. Throttling
    works in slices of 100 ms (Linux 6.18, block/blk-throttle.c), so a shorter case would mainly
    show when its first slice began."""
    cases = [
        Case(
            f"direct random {way}s of {block // KIB} KiB",
            "device",
            transfers(64 * MIB, block, [way], DIRECT, RANDOM | {"requests": str(requests)}),
        )
        for way in ("read", "write")
        for block, requests in ((16 * KIB, 1200), (256 * KIB, 300))
    ]
    cases += [
        Case(
            f"direct {way}s of 128 KiB in order",
            "device",
            transfers(64 * MIB, 128 * KIB, [way], DIRECT, {}),
        )
        for way in ("read", "write")
    ]
    cases += [
        Case("cold reads of 64 KiB", "device", transfers(64 * MIB, 64 * KIB, ["read"], COLD, {})),
        Case(
            "cold random reads of 8 KiB",
            "device",
            transfers(64 * MIB, 8 * KIB, ["read"], COLD, RANDOM | {"requests": "1000"}),
        ),
        Case(
            "direct random reads and writes of 8 KiB, 70:30",
            "device",
            transfers(
                64 * MIB,
                8 * KIB,
                ["mixed"],
                DIRECT,
                RANDOM | {"requests": "1500", "read_share": "0.7"},
            ),
        ),
        Case(
            "new writes of 128 KiB and a sync",
            "device",
            transfers(64 * MIB, 128 * KIB, ["write", "sync"], NEW, {}),
        ),
        Case(
            "new writes of 8 KiB, a sync behind each",
            "device",
            transfers(150 * 8 * KIB, 8 * KIB, ["write"], NEW, {"sync_per_write": "true"}),
        ),
        Case(
            "synchronous rewrites of 16 KiB",
            "device",
            transfers(16 * MIB, 16 * KIB, ["write"], SYNCHRONOUS, RANDOM | {"requests": "400"}),
        ),
    ]
    cases += [
        Case(
            f"{count} processes, direct random reads of 32 KiB",
            "device",
            transfers(
                16 * MIB,
                32 * KIB,
                ["read"],
                DIRECT,
                RANDOM | OWN_FILES | {"requests": str(requests)},
            ),
            processes=count,
        )
        for count, requests in ((2, 500), (8, 125))
    ]
    cases.append(
        Case(
            "4 processes, new writes of 64 KiB and a sync",
            "device",
            transfers(16 * MIB, 64 * KIB, ["write", "sync"], NEW, OWN_FILES),
            processes=4,
        )
    )
    return cases


CASES = (*_cached(), *_on_device())
