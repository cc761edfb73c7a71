"""The models against real file systems: twins that were measured (tests/data/twins), predicted
by this version."""

from pathlib import Path

import pytest

from headrace import validate

MEASURED = Path(__file__).parents[1] / "data" / "twins"
MEDIAN = {"device": 0.05, "cache": 0.1}
"""Of the errors of cases that are bound so, the most."""


@pytest.mark.parametrize("name", ["ext4-150", "xfs-150", "ext3-ordered-150"])
def test_what_was_measured_is_predicted(name: str) -> None:
    found = validate.repredict(MEASURED / f"{name}.json").json()
    assert len(found["points"]) == len(validate.CASES)
    for group, most in MEDIAN.items():
        assert found["summary"][group]["median_error"] <= most, group
        # Of 15 or 17 cases with two or three repetitions each, nine tenths are asked.
        assert found["summary"][group]["covered"] >= 0.75, group
