"""Tables of results for other libraries, where these are installed."""

from typing import TYPE_CHECKING, ClassVar

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
            ModuleNotFoundError: pandas is not installed.
            ValueError: There is no such table.

        Examples:
            >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
            >>> sweep.to_pandas("points")["clients.count"].tolist()
            [4, 8]
        """
        import pandas as pd

        rows: pl.DataFrame = getattr(self, table or self.main_table, None)  # type: ignore[assignment]
        if not hasattr(rows, "get_columns"):
            raise ValueError(f"{table!r} is no table of this; the main one is {self.main_table!r}")
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
            ModuleNotFoundError: xarray or pandas is not installed.

        Examples:
            >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
            >>> sweep.to_xarray("points").sizes["clients.count"]  # doctest: +SKIP
            2
        """
        import xarray as xr

        rows = self.to_pandas(table)
        dimensions = self._dimensions(list(rows.columns))
        if dimensions and not rows.duplicated(dimensions).any():
            rows = rows.set_index(dimensions)
        return xr.Dataset.from_dataframe(rows)

    def _dimensions(self, columns: list[str]) -> list[str]:
        """Return the columns whose values number the rows of a table."""
        return []
