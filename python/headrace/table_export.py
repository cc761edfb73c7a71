"""Tables of results for other libraries, where these are installed."""

from typing import TYPE_CHECKING, ClassVar

from headrace.late_imports import imports_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray as xr


class TableExport:
    """Converts the tables of a result, each of which is an attribute of it."""

    main_table: ClassVar[str] = "frame"
    """Table that is converted if none is named."""

    def to_pandas(self, table: str | None = None) -> "pd.DataFrame":
        """Return a table as a pandas data frame.

        Parameters:
            table: Attribute that has the table, such as `points` of a sweep; by default the main
                one.

        Raises:
            ValueError: There is no such table, or pandas is not installed.

        Examples:
            >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
            >>> sweep.to_pandas("points")["clients.count"].tolist()
            [4, 8]
        """
        with imports_of("tables"):
            import pandas as pd
        rows: pl.DataFrame = getattr(self, str(table or self.main_table), None)  # type: ignore[assignment]
        if not hasattr(rows, "get_columns"):
            raise ValueError(f"there is no table {table!r}: expected {', '.join(self._tables())}")
        # Without pyarrow, which polars' own conversion needs.
        columns = {
            column.name: column.to_numpy() if column.dtype.is_numeric() else column.to_list()
            for column in rows
        }
        return pd.DataFrame(columns, columns=rows.columns)

    def to_xarray(self, table: str | None = None) -> "xr.Dataset":
        """Return a table as an xarray dataset: a variable for each column. The fields that a sweep
        over all combinations varies are its dimensions, in SI units.

        Parameters:
            table: Attribute that has the table, as in `to_pandas`.

        Raises:
            ValueError: There is no such table, or xarray is not installed.

        Examples:
            >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
            >>> sweep.to_xarray("points").sizes["clients.count"]
            2
        """
        with imports_of("tables"):
            import xarray as xr
        rows = self.to_pandas(table)
        dimensions = self._dimensions(list(rows.columns))
        if dimensions and not rows.duplicated(dimensions).any():
            rows = rows.set_index(dimensions)
        return xr.Dataset.from_dataframe(rows)

    def _tables(self) -> list[str]:
        """Return the names of the tables that the result has."""
        types = dict(type(self).__annotations__)
        for name, member in vars(type(self)).items():
            getter = getattr(member, "fget", getattr(member, "func", None))
            types[name] = getattr(getter, "__annotations__", {}).get("return")
        return [
            name
            for name, kind in types.items()
            if "DataFrame" in str(kind) and "dict" not in str(kind)
            if not name.startswith("_") and getattr(self, name) is not None
        ]

    def _dimensions(self, columns: list[str]) -> list[str]:
        """Return the columns whose values number the rows of a table."""
        return []
