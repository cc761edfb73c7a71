"""Data that compresses and repeats, as a compressor and a hash see it in the files."""

import hashlib
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

SCENARIO = """
name = "patterns"
[[workload]]
block = "8 MiB"
transfer = "256 KiB"
phases = ["write"]
io = {{ {io} }}
"""


def written(directory: Path, io: str) -> bytes:
    """Return the bytes of the file that a benchmark wrote."""
    scenario = directory / "patterns.toml"
    scenario.write_text(SCENARIO.format(io=io))
    command = [sys.executable, "-m", "headrace", "bench", "run", str(scenario), str(directory)]
    command += ["--keep", "--no-store", "--no-progress"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (file,) = (
        one for one in directory.rglob("*") if one.is_file() and one.stat().st_size == 8 << 20
    )
    return file.read_bytes()


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_a_compressor_saves_the_part_that_is_asked_for(tmp_path: Path, share: float) -> None:
    data = written(tmp_path, f"compressible = {share}")
    # Blocks alone, as a file system compresses them; a header and the zeros take 1.5 %.
    blocks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    stored = sum(len(zlib.compress(block)) for block in blocks)
    assert stored / len(data) == pytest.approx(1 - share, abs=0.02)
    assert len(set(blocks)) == len(blocks)


def test_blocks_repeat_in_the_part_that_is_asked_for(tmp_path: Path) -> None:
    data = written(tmp_path, "duplicates = 0.5")
    hashes = [hashlib.sha256(data[at : at + 4096]).digest() for at in range(0, len(data), 4096)]
    # 2,048 blocks: five standard deviations are 113.
    assert len(hashes) - len(set(hashes)) + 1 == pytest.approx(1024, abs=113)
    assert len(zlib.compress(data[: 1 << 20])) < 1 << 20
