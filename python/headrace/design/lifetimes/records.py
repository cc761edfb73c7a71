"""Failure records of disks: a user's own table, or Backblaze's daily CSV files.

A record is one disk. It has the age at which its observation began (left truncation) and the age
at which it ended. The end is a failure, or the disk is right-censored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from headrace.quantities import DAY, HOUR, MOST_POWER_ON_HOURS, YEAR

ALL = "all models"
"""Name of disks without a model, and of all disks together."""
AGE_COLUMNS = {
    "age": HOUR,
    "age_h": HOUR,
    "age_hours": HOUR,
    "age_d": DAY,
    "age_days": DAY,
    "age_y": YEAR,
    "age_years": YEAR,
}
"""Names of the column of ages, with the seconds of their units."""
FAILED_COLUMNS = ("failed", "failure", "event")
ENTRY_COLUMNS = ("entry", "installed_age", "entry_age", "start_age")
"""Names of the column of ages at which observation began, in the unit of the ages."""
YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
EXPECTED = (
    "expected a CSV file with the columns age and failed (and perhaps entry and model), or"
    " Backblaze's date, serial_number, model, failure and smart_9_raw"
)


@dataclass
class Records:
    """Disks whose lifetimes were observed."""

    disks: pl.DataFrame
    """Columns `model` (text), `entry` and `age` (hours), `failed` (truth values)."""
    rows: int
    """Rows that were read."""
    bad: dict[str, int] = field(default_factory=dict)
    """Rows or disks that were left out, by reason."""


def read_records(paths: Sequence[Path]) -> Records:
    """Return the disks of one or more CSV files of one kind.

    Raises:
        ValueError: A file is no such table, or no disk is left; the message says why.
        OSError: A file cannot be read.
    """
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            # A pipe would be waited for; of a directory the system itself says what it is.
            raise ValueError(f"{path}: not a regular file: {EXPECTED}")
        with path.open("rb"):
            pass
    tables = [_open(path) for path in paths]
    kinds = {_is_daily(columns) for _, columns in tables}
    if len(kinds) > 1:
        raise ValueError(f"{paths[0]}: a table of disks beside daily files: {EXPECTED}")
    try:
        if kinds == {True}:
            records = _daily([table for table, _ in tables], [names for _, names in tables])
        else:
            records = _merged([_own(table, names) for table, names in tables])
    except pl.exceptions.PolarsError as error:
        raise _unreadable(paths[0], error) from None
    if records.disks.is_empty():
        why = ", ".join(f"{count} x {reason}" for reason, count in records.bad.items())
        raise ValueError(f"{paths[0]}: no disk can be used{': ' + why if why else ''}: {EXPECTED}")
    return records


def _open(path: Path) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Return a file's rows as text, and its columns by their names in lower case."""
    try:
        table = pl.scan_csv(
            path, infer_schema=False, truncate_ragged_lines=True, encoding="utf8-lossy", glob=False
        )
        names = table.collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise _unreadable(path, error) from None
    columns: dict[str, str] = {}
    for name in names:
        columns.setdefault(name.strip().lower(), name)
    own = any(key in columns for key in AGE_COLUMNS) and any(it in columns for it in FAILED_COLUMNS)
    if not own and not _is_daily(columns):
        raise ValueError(f"{path}: {EXPECTED}: its columns are {', '.join(columns)[:200]}")
    return table, columns


def _unreadable(path: Path, error: pl.exceptions.PolarsError) -> ValueError:
    """Return the error for a file that Polars cannot read, with its reason in one line."""
    return ValueError(f"{path}: {EXPECTED}: {' '.join(str(error).split())[:200]}")


def _is_daily(columns: dict[str, str]) -> bool:
    return all(it in columns for it in ("date", "serial_number", "model", "failure", "smart_9_raw"))


def _truth(name: str) -> pl.Expr:
    """A column of 0 and 1, or of words for them; anything else is null."""
    text = pl.col(name).str.strip_chars().str.to_lowercase()
    return pl.when(text.is_in(YES)).then(True).when(text.is_in(NO)).then(False)


def _number(name: str) -> pl.Expr:
    """A column of numbers; anything else, and what is not finite, is null."""
    value = pl.col(name).str.strip_chars().cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value)


def _own(table: pl.LazyFrame, columns: dict[str, str]) -> Records:
    """A user's table, a row for each disk."""
    age = next(name for name in AGE_COLUMNS if name in columns)
    failed = next(name for name in FAILED_COLUMNS if name in columns)
    entry = next((name for name in ENTRY_COLUMNS if name in columns), None)
    hours = AGE_COLUMNS[age] / HOUR
    model = pl.lit(ALL)
    if "model" in columns:
        text = pl.col(columns["model"]).str.strip_chars()
        model = pl.when(text.str.len_chars() > 0).then(text).otherwise(pl.lit(ALL))
    begun = pl.lit(0.0)
    if entry is not None:
        blank = pl.col(columns[entry]).fill_null("").str.strip_chars() == ""
        begun = pl.when(blank).then(0.0).otherwise(_number(columns[entry]) * hours)
    disks = table.select(
        model=model, entry=begun, age=_number(columns[age]) * hours, failed=_truth(columns[failed])
    ).collect()
    checks = {
        "age is no number above 0": (pl.col("age") > 0) & (pl.col("age") <= MOST_POWER_ON_HOURS),
        "failed is not 0 or 1": pl.col("failed").is_not_null(),
        "entry is no age below the disk's": (pl.col("entry") >= 0)
        & (pl.col("entry") < pl.col("age")),
    }
    return _checked(disks, checks, disks.height)


def _daily(tables: list[pl.LazyFrame], columns: list[dict[str, str]]) -> Records:
    """Backblaze's daily files: a row for each disk and day, summed up by disk."""
    rows = pl.concat(
        [
            table.select(
                model=pl.col(names["model"]).str.strip_chars(),
                serial=pl.col(names["serial_number"]).str.strip_chars(),
                date=pl.col(names["date"]).str.strip_chars().str.to_date("%Y-%m-%d", strict=False),
                failed=_truth(names["failure"]),
                hours=_number(names["smart_9_raw"]),
            )
            for table, names in zip(tables, columns, strict=True)
        ]
    )
    good = (
        pl.col("date").is_not_null()
        & pl.col("failed").is_not_null()
        & (pl.col("serial").str.len_chars() > 0)
        & (pl.col("model").str.len_chars() > 0)
    ).fill_null(False)
    known = pl.col("hours").is_between(0, MOST_POWER_ON_HOURS).fill_null(False)
    # A failing disk may have no counters on its last day.
    summed = (
        rows.filter(good)
        .group_by("model", "serial")
        .agg(
            entry=pl.col("hours").filter(known).sort_by(pl.col("date").filter(known)).first(),
            last=pl.col("hours").filter(known).sort_by(pl.col("date").filter(known)).last(),
            failed=pl.col("failed").any(),
            days=pl.col("date").n_unique(),
            first_day=pl.col("date").min(),
            last_day=pl.col("date").max(),
            read=pl.len(),
        )
    )
    total, counted = pl.collect_all([rows.select(pl.len()), summed])
    disks = counted.sort("model", "serial").with_columns(
        # A row stands for a day of observation, as Backblaze counts drive-days.
        age=pl.col("last") + 24.0,
        span=((pl.col("last_day") - pl.col("first_day")).dt.total_days() + 2) * 24.0,
    )
    read = int(total.item())
    checks = {
        "disk without power-on hours": pl.col("entry").is_not_null(),
        "disk whose power-on hours fall": pl.col("last") >= pl.col("entry"),
        "disk whose power-on hours pass the calendar": pl.col("last") - pl.col("entry")
        <= pl.col("span"),
    }
    checked = _checked(disks, checks, read)
    damaged = read - int(counted["read"].sum())
    if damaged:
        checked.bad = {"row without date, serial number, model or failure": damaged, **checked.bad}
    return checked


def _checked(disks: pl.DataFrame, checks: dict[str, pl.Expr], rows: int) -> Records:
    """Leave out disks that fail a check, and count them by the first one that they fail."""
    bad = {}
    for reason, holds in checks.items():
        good = disks.filter(holds.fill_null(False))
        if good.height < disks.height:
            bad[reason] = disks.height - good.height
        disks = good
    return Records(disks.select("model", "entry", "age", "failed"), rows, bad)


def _merged(parts: list[Records]) -> Records:
    bad: dict[str, int] = {}
    for part in parts:
        for reason, count in part.bad.items():
            bad[reason] = bad.get(reason, 0) + count
    return Records(pl.concat([each.disks for each in parts]), sum(each.rows for each in parts), bad)
