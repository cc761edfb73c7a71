"""What an earlier run of a study has measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from headrace.measure.micro.study import Point, Study
from headrace.measure.micro.summary import KIND
from headrace.measure.resuming import check, of_another_scenario


@dataclass(frozen=True)
class Known:
    """What an earlier run of a study has measured."""

    resumed: Mapping[str, Any]

    @staticmethod
    def of(study: Study, here: Mapping[str, str], resumed: Mapping[str, Any] | None) -> "Known":
        """Raises ValueError if it is of another study or place."""
        if resumed is None:
            return Known({})
        check(resumed, {"kind": KIND, "benchmark": study.name}, here)
        known = Known(resumed)
        if not any(known.has(point) for point in study.points):
            raise of_another_scenario(resumed)
        return known

    @property
    def warnings(self) -> dict[str, dict[str, str]]:
        """By their conditions."""
        return {it["condition"]: it for it in self.resumed.get("warnings", ())}

    def has(self, point: Point) -> bool:
        """Whether it was one of the points."""
        saved = {"parameters": dict(point.parameters), "scenario": point.scenario}
        return saved in self.resumed.get("points", ())

    def rows(self, point: Point, repeat: int) -> list[dict[str, Any]] | None:
        """What it gave; none if it was not measured, or not all of it."""
        columns = self.resumed.get("rows")
        if not columns or not self.has(point):
            return None
        wanted = {**point.parameters, "repeat": repeat}
        tests = {test.name for test in point.tests}
        found = [
            row
            for row in pl.DataFrame(columns).iter_rows(named=True)
            if row["test"] in tests and all(row[key] == value for key, value in wanted.items())
        ]
        return found if len(found) == len(tests) else None
