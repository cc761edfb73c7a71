"""Write the sections of trace formats from the documentation of their readers in Rust.

python tools/trace_format_tables.py           # after a change of a reader's documentation
python tools/trace_format_tables.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import update

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/trace-formats.md"
READERS = ROOT / "crates/trace/src/formats"
FORMATS = {
    "perf-trace": "perf_trace",
    "dftracer": "dftracer",
    "recorder": "recorder",
    "msr": "msr",
    "fiu": "fiu",
    "spc": "spc",
    "alibaba": "alibaba",
    "tencent": "tencent",
    "systor17": "systor",
    "vscsi": "vscsi",
    "cloudphysics": "cloudphysics",
    "ibm-cos": "ibm_cos",
    "oracle-general": "oracle_general",
    "pfssim": "pfssim",
}
"""Readers whose documentation says all of their formats, by the formats' names."""


def module_text(name: str) -> str:
    """Return the documentation of a reader, a paragraph a line."""
    lines = (READERS / f"{name}.rs").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line[3:].removeprefix(" ") for line in lines if line.startswith("//!"))
    parts = text.split("```")
    parts[::2] = ["\n\n".join(map(joined, part.split("\n\n"))) for part in parts[::2]]
    return "```".join(parts)


def joined(paragraph: str) -> str:
    """Return a paragraph on one line, with the line breaks around it."""
    return paragraph if not paragraph.strip() else " ".join(paragraph.split())


def sections() -> Iterator[str]:
    """Yield the sections of the formats."""
    for name, reader in FORMATS.items():
        yield f"### {name}"
        yield ""
        yield module_text(reader)
        yield ""


def main() -> int:
    """Write the page, or compare it."""
    return update({PAGE: {"formats": sections()}}, "tools/trace_format_tables.py")


if __name__ == "__main__":
    sys.exit(main())
