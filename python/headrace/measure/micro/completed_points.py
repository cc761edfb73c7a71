"""Points that an earlier run of a study has measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from headrace.fields import WrongField, convert
from headrace.measure.micro.study import Point, Row, Study
from headrace.measure.micro.summary import KIND, PointText
from headrace.measure.report import ResultWarning
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
        asked = [point.parameters for point in study.points]
        changed = any(other.parameters in asked for other in known.others(study))
        if changed or not any(known.has(point) for point in study.points):
            raise other_options_error(resumed)
        return known

    @cached_property
    def points(self) -> list[PointText]:
        """Points of the earlier run."""
        return convert(self.resumed.get("points", []), list[PointText])

    def others(self, study: Study) -> list[PointText]:
        """Return the saved points that are not of this study."""
        asked = [PointText.of(point) for point in study.points]
        return [point for point in self.points if point not in asked]

    def with_points_of(self, study: Study) -> Study:
        """Return a study with its own points and those of another one, in increasing order."""
        others = [Point(other.parameters, other.scenario, ()) for other in self.others(study)]
        if not others:
            return study
        points = sorted([*study.points, *others], key=lambda one: tuple(one.parameters.values()))
        return replace(study, points=points)

    @cached_property
    def rows(self) -> list[Row]:
        """Rows of the earlier run, including points that are not requested again."""
        columns = self.resumed.get("rows") or {}
        names = [key for point in self.points[:1] for key in point.parameters]
        rows = []
        for number, columns_of_row in enumerate(pl.DataFrame(columns).to_dicts()):
            try:
                row = Row.of_columns(columns_of_row)
            except WrongField as error:
                raise self._damaged(f"rows.{number}: {error}") from None
            if list(row.parameters) != names:
                raise self._damaged(f"rows: expected the columns {', '.join(names)}")
            rows.append(row)
        return rows

    def _damaged(self, problem: str) -> ValueError:
        named = self.resumed.get("named", "the resumed result")
        return ValueError(f"{named}: {problem}: start again without --resume")

    @property
    def warnings(self) -> dict[str, ResultWarning]:
        """Warnings of the earlier run, by condition."""
        saved = convert(self.resumed.get("warnings", []), list[ResultWarning])
        return {warning.condition: warning for warning in saved}

    def has(self, point: Point) -> bool:
        """Return whether the earlier run had a point."""
        return PointText.of(point) in self.points

    def measured(self, point: Point, repeat: int) -> bool:
        """Return whether the earlier run has all figures of a point in a repetition."""
        if not self.has(point):
            return False
        rows = [row for row in self.rows if row.is_of(point, repeat)]
        return len(rows) == len(point.tests)
