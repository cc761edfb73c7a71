"""Silent corruption: rates of the study, what becomes of it, and the command."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from headrace.cli.app import run
from headrace.design.reliability.question import Array, Declustered, Mirrors
from headrace.design.reliability.silent_corruption import (
    Checksums,
    CorruptionRate,
    SilentCorruption,
    class_rate,
    parse_corruption_rate,
    silent_corruption,
)

RAID = ("design", "reliability", "--mttf", "1e6 h", "--mttr", "12 h")
RATE = CorruptionRate(0.1, None, "given")


def test_the_classes_add_up_to_the_study() -> None:
    nearline, enterprise = class_rate("nearline"), class_rate("enterprise")
    assert nearline.mismatches == pytest.approx(10 * enterprise.mismatches)
    # 400,000 mismatches on 358,000 nearline and 1.17 million enterprise disks in 41 months.
    blocks = 358_000 * nearline.mismatches + 1_170_000 * enterprise.mismatches
    assert blocks * 41 / 12 == pytest.approx(400_000)
    # 400,000 / (41 / 12 x (1,170,000 + 10 x 358,000)) = 0.024646 a disk-year.
    assert enterprise.mismatches == pytest.approx(0.024646, rel=1e-4)
    # 0.86 % and 0.066 % of the disks had any in 41 months.
    assert nearline.corrupt_disks is not None and enterprise.corrupt_disks is not None
    assert nearline.corrupt_disks * 41 / 12 == pytest.approx(0.0086, rel=5e-3)
    assert enterprise.corrupt_disks * 41 / 12 == pytest.approx(0.00066, rel=1e-2)


FATES = [
    # Disks and parity; checksums; scrubbed; what becomes of all.
    (Array(4, 0), "none", True, "undetected"),
    (Array(8, 1), "none", False, "undetected"),
    (Array(8, 1), "none", True, "detected"),
    (Mirrors(8, 2), "none", True, "detected"),
    (Array(8, 2), "none", False, "undetected"),
    (Array(8, 2), "none", True, "repaired"),
    (Mirrors(9, 3), "none", True, "repaired"),
    (Declustered(64, 8, 1), "none", True, "detected"),
    (Array(4, 0), "block", True, "located"),
    (Array(8, 1), "block", False, "repaired"),
    (Array(4, 0), "end-to-end", False, "located"),
    (Declustered(64, 8, 2), "end-to-end", False, "repaired"),
]


@pytest.mark.parametrize(("redundancy", "checksums", "is_scrubbed", "fate"), FATES)
def test_what_becomes_of_it(
    redundancy: Array | Mirrors | Declustered, checksums: Checksums, is_scrubbed: bool, fate: str
) -> None:
    found = silent_corruption(redundancy, 3, RATE, checksums, is_scrubbed, 5.0)
    assert found.disks == 3 * redundancy.disks
    assert found.a_year == pytest.approx(0.1 * found.disks)
    assert getattr(found, fate) == found.over_years == pytest.approx(5 * found.a_year)
    assert parts(found) == found.over_years


def parts(found: SilentCorruption) -> float:
    return found.repaired + found.located + found.detected + found.undetected


@given(
    disks=st.integers(1, 100),
    tolerated=st.integers(0, 4),
    groups=st.integers(1, 1000),
    rate=st.floats(0, 1e6),
    checksums=st.sampled_from(["none", "block", "end-to-end"]),
    is_scrubbed=st.booleans(),
    years=st.floats(1e-3, 100),
)
def test_the_parts_are_all(
    disks: int,
    tolerated: int,
    groups: int,
    rate: float,
    checksums: Checksums,
    is_scrubbed: bool,
    years: float,
) -> None:
    array = Array(disks + tolerated, tolerated)
    given_rate = CorruptionRate(rate, None, "given")
    found = silent_corruption(array, groups, given_rate, checksums, is_scrubbed, years)
    assert parts(found) == found.over_years
    if checksums != "none":
        assert found.undetected == found.detected == 0


@pytest.mark.parametrize("text", ["", "desktop", "nan", "inf", "-1", "1e7", "5 %"])
def test_other_rates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected nearline or enterprise"):
        parse_corruption_rate(text)


def test_the_command_counts_it_beside_the_loss(headrace: Command) -> None:
    options = ("--level", "raid5", "--disks", 8, "--groups", 10, "--years", "1,5")
    ended = headrace(
        *RAID, *options, "--silent-corruption", "nearline", "--scrub", "168 h", "--json"
    )
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    found = document["silent_corruption"]
    assert found["disks"] == 80 and found["years"] == 5
    assert found["a_year"] == pytest.approx(80 * 0.24646, rel=1e-4)
    assert found["detected"] == pytest.approx(400 * 0.24646, rel=1e-4)
    assert found["undetected"] == found["repaired"] == found["located"] == 0
    assert any("Silent corruption" in it for it in document["assumptions"])
    plain = json.loads(headrace(*RAID, *options, "--json").stdout)
    assert plain["silent_corruption"] is None
    assert plain["loss_probability"] == document["loss_probability"]
    shown = headrace(*RAID, *options, "--silent-corruption", "0.1", "--checksums", "end-to-end")
    row = next(it for it in shown.stdout.splitlines() if it.startswith(" repaired"))
    assert row.split() == ["repaired", "8", "40"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--checksums", "block"), "--checksums block: expected --silent-corruption"),
        (("--silent-corruption", "desktop"), '--silent-corruption "desktop": expected nearline'),
        (("--silent-corruption", "nan"), '--silent-corruption "nan": expected nearline'),
    ],
)
def test_wrong_options_are_one_line(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert run([*RAID, "--level", "raid5", "--disks", "8", *options]) == 2
    ended = capsys.readouterr()
    assert ended.out == "" and ended.err.count("\n") == 1
    assert message in ended.err
