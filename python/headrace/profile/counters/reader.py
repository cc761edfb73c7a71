"""Reading several counter sources at once. Needs nothing but the standard library."""

from collections.abc import Sequence

from headrace.profile.counters import ALL, Columns, Raw, Read, Source, Watched


class CounterReader:
    """Open counter sources. Those that this kernel lacks are left out."""

    def __init__(self, watched: Watched, sources: Sequence[Source] = ALL) -> None:
        self._watched = watched
        self._sources = sources
        self._readers: list[tuple[str, Read]] = []
        for source in sources:
            try:
                read = source.open(watched)
            except OSError:
                watched.left_out[source.name] += 1
                continue
            if read is not None:
                self._readers.append((source.name, read))

    def read(self) -> dict[str, Raw]:
        """Return the counters by the name of their source. Unreadable ones are left out."""
        values: dict[str, Raw] = {}
        for name, read in self._readers:
            try:
                raw = read()
            except OSError:
                self._watched.left_out[name] += 1
                continue
            if raw is not None:
                values[name] = raw
        return values

    def rates(self, before: dict[str, Raw], after: dict[str, Raw], seconds: float) -> Columns:
        """Return the figures of the interval between two results of `read`."""
        columns: Columns = {}
        for source in self._sources:
            if source.name in before and source.name in after:
                columns |= source.rates(before[source.name], after[source.name], seconds)
        return columns
