"""Readers of options' values. Each returns None if the text is none of its values."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headrace.jobs.plan import Distribution

MOST = 1 << 60
UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
TIMES = {
    "usec": 1e-6,
    "msec": 1e-3,
    "sec": 1.0,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "ns": 1e-9,
}
BOTH = 2
"""Values for reads and for writes."""
NODES = Path("/sys/devices/system/node")
ENGINES = {
    "sync": ("transfer", "posix-seek"),
    "psync": ("transfer", "posix"),
    "vsync": ("transfer", "posix-seek-vector"),
    "pvsync": ("transfer", "posix-vector"),
    "pvsync2": ("transfer", "posix-vector"),
    "mmap": ("transfer", "mapped"),
    "null": ("transfer", "null"),
    "libaio": ("transfer", "io-uring"),
    "posixaio": ("transfer", "io-uring"),
    "io_uring": ("transfer", "io-uring"),
    "cpuio": ("compute", "posix"),
    "falloc": ("allocate", "posix"),
    "ftruncate": ("truncate", "posix"),
    "filecreate": ("create", "posix"),
    "filestat": ("stat", "posix"),
    "filedelete": ("unlink", "posix"),
    "dircreate": ("mkdir", "posix"),
    "dirstat": ("stat", "posix"),
    "dirdelete": ("rmdir", "posix"),
}
"""Work of an engine, and the load engine's way of making its calls."""
PATTERNS = {
    "read": (1.0, False),
    "write": (0.0, False),
    "randread": (1.0, True),
    "randwrite": (0.0, True),
    "rw": (None, False),
    "readwrite": (None, False),
    "randrw": (None, True),
    "trim": (0.0, False),
    "randtrim": (0.0, True),
}
"""Share of reads (None if `rwmixread` gives it), and whether offsets are random."""
VERIFIED = (
    *("md5", "crc64", "crc32c", "crc32c-intel", "crc32", "crc16", "crc7", "xxhash"),
    *("sha512", "sha256", "sha1", "sha3-224", "sha3-256", "sha3-384", "sha3-512"),
    *("meta", "pattern", "pattern_hdr", "null"),
)


class Pattern(NamedTuple):
    """Value of `rw`."""

    share: float | None
    random: bool
    in_a_row: int
    step: int
    trims: bool = False


class Steady(NamedTuple):
    """Value of `steadystate`."""

    by: str
    slope: bool
    limit: float
    relative: bool


def size(text: str) -> int | None:
    """Bytes. Units are powers of 1024; those of ib, such as MiB, are of 1000, as in fio 3.33."""
    match = re.fullmatch(r"(0x[0-9a-f]{1,15}|[0-9]{1,18})([kmgtp]?)(i?)(b?)", text.lower())
    if match is None or (match[3] and not match[2]):
        return None
    base = 1000 if match[3] and match[4] else 1024
    amount = int(match[1], 0 if match[1].startswith("0x") else 10)
    bytes_ = amount * base ** UNITS[match[2]]
    return bytes_ if bytes_ < MOST else None


def text(value: str) -> str | None:
    return value or None


def optional_text(value: str) -> str | None:
    return value


def number(value: str) -> int | None:
    return size(value)


def integer(value: str) -> int | None:
    return int(value) if re.fullmatch(r"-?[0-9]{1,9}", value) else None


def count(value: str) -> int | None:
    amount = size(value)
    return amount if amount is not None and amount < 1 << 31 else None


def switch(value: str) -> bool | None:
    return {"0": False, "1": True}.get(value)


flag = switch


def percent(value: str) -> float | None:
    match = re.fullmatch(r"([0-9]{1,3})%?", value.split(",")[0])
    return None if match is None or int(match[1]) > 100 else int(match[1]) / 100


def share_of_100(value: str) -> float | None:
    match = re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,9})?", value)
    return None if match is None or float(value) > 100 else float(value) / 100


def size_or_share(value: str) -> int | float | None:
    """Bytes, or a share as a float."""
    match = re.fullmatch(r"([0-9]{1,3})%", value)
    if match is not None:
        return None if int(match[1]) > 100 else int(match[1]) / 100
    return size(value)


def size_range(value: str) -> tuple[int, int] | None:
    least, _, most = value.replace(":", "-").partition("-")
    sizes = [size(part) or 0 for part in (least, most or least)]
    # fio exchanges them, too, if the first is the larger.
    return (min(sizes), max(sizes)) if all(sizes) else None


def _of_both(value: str, read: Callable[[str], Any]) -> list[Any] | None:
    """Values of reads and of writes; those of trims are left out. One is for both."""
    parts = value.split(",")
    if len(parts) > 3:
        return None
    read_parts = [read(part.strip()) if part.strip() else ... for part in parts]
    if any(part is None for part in read_parts):
        return None
    if len(read_parts) == 1:
        read_parts *= BOTH
    first = next((part for part in read_parts if part is not ...), None)
    return [first if part is ... else part for part in read_parts[:BOTH]]


def sizes(value: str) -> list[int] | None:
    both = _of_both(value, size)
    return both if both is not None and all(both) else None


def size_ranges(value: str) -> list[tuple[int, int]] | None:
    return _of_both(value, size_range)


def splits(value: str) -> list[list[tuple[int, float]]] | None:
    return _of_both(value, _split)


def _split(value: str) -> list[tuple[int, float]] | None:
    parts: list[tuple[int, float | None]] = []
    for part in value.split(":"):
        bytes_, _, share = part.partition("/")
        amount = size(bytes_)
        if not amount or (share and not re.fullmatch(r"[0-9]{1,3}", share)):
            return None
        parts.append((amount, float(share) if share else None))
    given = sum(share for _, share in parts if share is not None)
    blank = sum(share is None for _, share in parts)
    if given > 100 or (not blank and given < 100):
        return None
    rest = (100 - given) / max(blank, 1)
    return [(amount, rest if share is None else share) for amount, share in parts]


def rates(value: str) -> tuple[float | None, float | None] | None:
    """Rates of reads and of writes; one is for each. An empty one or 0 is none."""
    parts = value.split(",")
    if len(parts) > 3:
        return None
    amounts = [size(part) if part else 0 for part in parts]
    if None in amounts:
        return None
    if len(amounts) == 1:
        amounts *= BOTH
    first, second = (float(amount) if amount else None for amount in amounts[:BOTH])
    return first, second


def _seconds(value: str, unit: str) -> float | None:
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([a-z]*)", value.lower())
    if match is None or (match[2] and match[2] not in TIMES):
        return None
    return float(match[1]) * TIMES[match[2] or unit]


def time(value: str) -> float | None:
    """Seconds."""
    return _seconds(value, "s")


def microseconds(value: str) -> float | None:
    """Seconds, of a number in microseconds."""
    return _seconds(value, "us")


def time_range(value: str) -> tuple[float, float] | None:
    parts = [time(part) for part in value.split("-")]
    if None in parts or len(parts) > 2 or (parts[0] or 0) > (parts[-1] or 0):
        return None
    return parts[0] or 0.0, parts[-1] or 0.0


def pattern(value: str) -> Pattern | None:
    word, colon, rest = value.partition(":")
    if word not in PATTERNS:
        return None
    share, random = PATTERNS[word]
    in_a_row, step = 1, 0
    if colon:
        sign = -1 if rest.startswith("-") else 1
        amount = size(rest.removeprefix("-"))
        if not amount or (random and sign < 0):
            return None
        in_a_row, step = (amount, 0) if random else (1, sign * amount)
    return Pattern(share, random, in_a_row, step, word.endswith("trim"))


def kb_base(value: str) -> int | None:
    return 1024 if value == "1024" else None


def sequencer(value: str) -> bool | None:
    """True for `identical`."""
    return {"sequential": False, "identical": True}.get(value)


def engine(value: str) -> tuple[str, str] | None:
    return ENGINES.get(value)


def service(value: str) -> tuple[str, int] | None:
    """Order of files, and requests until the next."""
    word, _, rest = value.partition(":")
    orders = {"random": "random", "roundrobin": "round-robin", "sequential": "sequential"}
    amount = count(rest) if rest else 1
    return (orders[word], amount) if word in orders and amount else None


def zone_mode(value: str) -> str | None:
    return value if value in ("none", "strided") else None


def advice(value: str) -> str | None:
    words = {"0": "none", "none": "none", "1": "pattern", "noreuse": "none"}
    return words.get(value, value if value in ("random", "sequential") else None)


def sync_mode(value: str) -> str | None:
    words = {"0": "none", "none": "none", "1": "sync", "sync": "sync", "dsync": "dsync"}
    return words.get(value)


def fallocate(value: str) -> str | None:
    """How files that are only written are made."""
    words = {"none": "sparse", "0": "sparse", "truncate": "sparse"}
    words |= dict.fromkeys(("native", "posix", "keep", "1"), "allocated")
    return words.get(value)


def rate_process(value: str) -> bool | None:
    """True for `poisson`."""
    return {"linear": False, "poisson": True}.get(value)


def cpu_policy(value: str) -> bool | None:
    """True if each process has one processor."""
    return {"shared": False, "split": True}.get(value)


def cpus(value: str) -> list[int] | None:
    """Numbers, and ranges of numbers."""
    numbers: list[int] = []
    for part in value.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,4})(?:-([0-9]{1,4}))?\s*", part)
        if match is None:
            return None
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return numbers or None


def cpus_of_nodes(nodes: Sequence[int]) -> list[int]:
    """Return the processors of memory nodes. Raises ValueError if there is no such node."""
    numbers: list[int] = []
    for node in nodes:
        file = NODES / f"node{node}" / "cpulist"
        try:
            numbers += cpus(file.read_text().strip()) or []
        except OSError:
            raise ValueError(f"this machine has no memory node {node}") from None
    return numbers


def distribution(value: str) -> Distribution | None:
    word, _, rest = value.partition(":")
    if word == "random":
        return {"kind": "uniform"} if not rest else None
    if word in ("zoned", "zoned_abs"):
        return _zones(rest.split(",")[0], absolute=word == "zoned_abs")
    parts = [float(part) for part in rest.split(":") if re.fullmatch(r"[0-9.]{1,12}", part)]
    if len(parts) != len(rest.split(":")) or len(parts) > 2:
        return None
    center = parts[1] if len(parts) > 1 else None
    if word == "zipf" and parts[0] > 0 and parts[0] != 1:
        return {"kind": "zipf", "theta": parts[0], "center": center}
    if word == "pareto" and 0 < parts[0] < 1:
        return {"kind": "pareto", "h": parts[0], "center": center}
    if word in ("normal", "gauss") and 0 <= parts[0] <= 100:
        return {"kind": "normal", "deviation": parts[0], "center": center}
    return None


def _zones(value: str, *, absolute: bool) -> Distribution | None:
    """Shares of the requests in zones. Bytes of zones become shares of the file later."""
    zones: list[tuple[float, float, float]] = []
    parts = [part.partition("/") for part in value.split(":")]
    read: Callable[[str], float | None] = size if absolute else percent
    lengths = [read(extent) if extent else -1.0 for _, _, extent in parts]
    # Zones without an extent have equal parts of the rest.
    given = sum(length for length in lengths if length is not None and length >= 0)
    rest = max(1 - given, 0) / max(lengths.count(-1.0), 1)
    end = 0.0
    for (share, _, _), length in zip(parts, lengths, strict=True):
        if not re.fullmatch(r"[0-9]{1,3}", share) or length is None or (length < 0 and absolute):
            return None
        zones.append((float(share), end, end + (rest if length < 0 else length)))
        end = zones[-1][2]
    if not 99.5 <= sum(zone[0] for zone in zones) <= 100.5 or (not absolute and end > 1.005):
        return None
    return {"kind": "zoned_abs" if absolute else "zoned", "zones": zones}


def bytes_(value: str) -> list[int] | None:
    """A text in quotes, a hexadecimal or a decimal number; empty if it depends on the offset."""
    if "%o" in value:
        return []
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return list(value[1:-1].encode()) or None
    if re.fullmatch(r"0x[0-9a-fA-F]+", value):
        digits = value[2:]
        return list(bytes.fromhex(digits.rjust(len(digits) + len(digits) % 2, "0")))
    if re.fullmatch(r"[0-9]{1,18}", value):
        amount = int(value)
        return list(amount.to_bytes(max((amount.bit_length() + 7) // 8, 1), "little"))
    return None


def verify(value: str) -> str | None:
    """The word, empty for none."""
    word = value.split(":")[0]
    if word in ("0", "none", "null"):
        return ""
    return word if word in VERIFIED else None


def steady(value: str) -> Steady | None:
    word, _, limit = value.partition(":")
    match = re.fullmatch(r"(iops|bw|lat)(_slope)?", word)
    amount = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)", limit)
    if match is None or amount is None:
        return None
    relative = bool(amount[2])
    return Steady(match[1], bool(match[2]), float(amount[1]) / (100 if relative else 1), relative)


EXAMPLES = {
    "flag": "1, or the name alone",
    "switch": "0 or 1",
    "percent": "0 to 100",
    "pattern": f"one of {', '.join(PATTERNS)}; read:8k, randread:4",
    "sequencer": "sequential or identical",
    "engine": f"one of {', '.join(ENGINES)}",
    "zone_mode": "none or strided (zoned devices are not supported)",
    "advice": "0, 1, random or sequential",
    "kb_base": "1024 (write sizes in powers of 1024)",
    "rate_process": "linear or poisson",
    "cpu_policy": "shared or split",
    "fallocate": "one of none, native, posix, keep, truncate",
    "verify": f"one of {', '.join(VERIFIED)}",
    "text": "a name",
    "optional_text": "a name",
}
"""Values where a row of the table has no example."""
