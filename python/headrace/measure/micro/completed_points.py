"""Points that an earlier run of a study has measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from headrace.measure.micro.study import Point, Study
from headrace.measure.micro.summary import KIND
from headrace.measure.resume import check_matches, other_options_error


@dataclass(frozen=True)
class CompletedPoints:
    """Points that an earlier run of a study has measured."""

    resumed: Mapping[str, Any]

    @staticmethod
    def of(
        study: Study, here: Mapping[str, str], resumed: Mapping[str, Any] | None
    ) -> "CompletedPoints":
        """Raise ValueError if it is of another study or place."""
        if resumed is None:
            return CompletedPoints({})
        check_matches(resumed, {"kind": KIND, "benchmark": study.name}, here)
        known = CompletedPoints(resumed)
        # A point of the same parameters that did something else would be shown as the same.
        asked = [dict(point.parameters) for point in study.points]
        changed = any(it["parameters"] in asked for it in known.others(study))
        if changed or not any(known.has(point) for point in study.points):
            raise other_options_error(resumed)
        return known

    def others(self, study: Study) -> list[Mapping[str, Any]]:
        """Return the saved points that are not of this study."""
        asked = [_saved(point) for point in study.points]
        return [it for it in self.resumed.get("points", ()) if it not in asked]

    def with_points_of(self, study: Study) -> Study:
        """Return a study with its own points and those of another one, in increasing order."""
        others = [Point(it["parameters"], it["scenario"], ()) for it in self.others(study)]
        if not others:
            return study
        points = sorted([*study.points, *others], key=lambda it: tuple(it.parameters.values()))
        return replace(study, points=points)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the earlier run, including points that are not requested again."""
        return pl.DataFrame(self.resumed.get("rows") or {}).to_dicts()

    @property
    def warnings(self) -> dict[str, dict[str, str]]:
        """Warnings of the earlier run, by condition."""
        return {it["condition"]: it for it in self.resumed.get("warnings", ())}

    def has(self, point: Point) -> bool:
        """Return whether the earlier run had a point."""
        return _saved(point) in self.resumed.get("points", ())

    def measured(self, point: Point, repeat: int) -> bool:
        """Return whether the earlier run has all figures of a point in a repetition."""
        if not self.has(point):
            return False
        found = [row for row in self.rows if is_of(row, point, repeat)]
        return len(found) == len(point.tests)


def is_of(row: Mapping[str, Any], point: Point, repeat: int) -> bool:
    """Return whether a row belongs to a point and a repetition."""
    wanted = {**point.parameters, "repeat": repeat}
    of_it = any(row["test"] == test.name for test in point.tests)
    return of_it and all(row[key] == value for key, value in wanted.items())


def _saved(point: Point) -> dict[str, Any]:
    """A point as a study's document has it."""
    return {"parameters": dict(point.parameters), "scenario": point.scenario}
