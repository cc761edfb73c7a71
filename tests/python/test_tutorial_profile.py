"""Claims of the profiling tutorial: the program's calls, the files of a profile, and the advice.

Nothing depends on the speed of the machine: the advice is that for the captured operations, each
after the same time of computing.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT
from headrace.profile.advice import CHANGES, advise
from headrace.profile.advice.change import Context
from headrace.profile.paced_trace import with_gaps
from headrace.profile.prediction import Case
from headrace.trace import open_trace
from headrace.trace.frames import frame
from test_profile_advice import SIMPLE

PAGE = (ROOT / "docs/tutorials/profile.md").read_text(encoding="utf-8")
INPUT = 4 << 20
CALL = 4096
GAP_NS = 20_000
"""Computing before each call: two passes over 4 KiB of characters at 400 MB/s."""
BASELINE = {
    "character-read": 400e6,
    "character-write": 400e6,
    "cached-read": 5e9,
    "block-write": 5e9,
}


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the tutorial after its commands, with a small input."""
    if shutil.which("cc") is None or shutil.which("strace") is None:
        pytest.skip("the tutorial needs cc and strace")
    place = tmp_path_factory.mktemp("tutorial")
    (commands,) = (it for it in blocks() if "copy.c" in it)
    *program, profile = commands.strip().splitlines()
    prepared = "\n".join(program).replace("head -c 1G", f"head -c {INPUT}")
    subprocess.run(["sh", "-ec", prepared], cwd=place, check=True)
    words = shlex.split(profile)
    assert words[:2] == ["headrace", "profile"]
    options = ["profile", "--no-report", "--no-store", *words[2:]]
    run = [sys.executable, "-m", "headrace", *options]
    ended = subprocess.run(run, cwd=place, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (place / "input").read_bytes() == (place / "output").read_bytes()
    return place


def test_the_program_makes_a_call_for_each_4_kib(profiled: Path) -> None:
    calls = (1 << 30) // CALL
    assert f"one call for each 4 KiB: {calls:,} reads and as many writes" in PAGE
    found = copied(profiled)
    counts = dict(found["operation"].cast(pl.String).value_counts().iter_rows())
    assert counts == {"read": INPUT // CALL, "write": INPUT // CALL}
    assert set(found["size"]) == {CALL}


def copied(profiled: Path) -> pl.DataFrame:
    """The captured operations on data of the two files."""
    found = frame(open_trace(profiled / "copy.profile/trace.strace"))
    data = pl.col("operation").cast(pl.String).is_in(["read", "write"])
    files = pl.col("file").cast(pl.String).str.contains(r"/(input|output)$")
    return found.filter(data & files & (pl.col("size") > 0))


def test_the_named_files_are_there(profiled: Path) -> None:
    named = set(re.findall(r"`((?:samples|trace)\.\w+)`", PAGE))
    assert named == {"samples.jsonl", "trace.strace"}
    assert named <= {it.name for it in (profiled / "copy.profile").iterdir()}


def test_the_advice_of_the_page_is_what_a_simulation_advises(profiled: Path) -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| .* \|$", PAGE, re.MULTILINE)
    levels = {it.name: it.level for it in CHANGES}
    assert rows and all(levels[name] == level for name, level in rows)
    assert "limited by the processor (`cpu`)" in PAGE
    # The same computing before each call, and calls that take no time of their own.
    paced = copied(profiled).with_columns(
        time_ns=(1 + pl.int_range(pl.len())) * GAP_NS, duration_ns=pl.lit(0, pl.Int64)
    )
    case = Case(SIMPLE.replace("100 MB/s", "10 GB/s"), with_gaps(paced), "compute")
    context = Context("cpu", 2, BASELINE)
    suited = [it for it in CHANGES if "cpu" in it.verdicts]
    applied = {it.name for it in suited if it.apply(case, context) is not None}
    assert {name for name, _ in rows} <= applied
    advice, outcome, failed = advise(case, context)
    assert outcome.error is None and failed == []
    gains = {it.change: it.predicted_gain for it in advice}
    # Twice as fast, and without the time of two passes over characters instead of blocks.
    assert gains["faster-processor"] == pytest.approx(1.0, rel=0.01)
    assert gains["block-io"] > 0.5
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    assert "ranked by the time that a change saves" in PAGE
