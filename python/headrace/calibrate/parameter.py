"""A parameter of a machine, its source and its spread."""

from dataclasses import dataclass
from typing import Self

from msgspec import UNSET

from headrace._core import parse_bytes, parse_seconds
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.records import ParameterRecord, Unit, Value
from headrace.quantities import binary_size, measured_time


@dataclass(frozen=True)
class Parameter:
    """A field of a scenario and its value in SI units."""

    field: str
    """Path of the field, such as `machine.cpu.system_call`."""
    values: tuple[Value, ...]
    """One value per round; a single value if it was read."""
    unit: Unit
    method: str
    """Source of the value: the file that was read, or the measurement."""
    curve: tuple[str, ...] = ()
    """Measured points such as "16 at once: 31 us", if the value follows from a curve."""
    pooled: float | None = None
    """Estimate from the Hodges-Lehmann estimates of the probe times. It is better than the estimate
    over the rounds' values if several times determine the parameter. None if there is none."""
    interval: tuple[float, float] | None = None
    """90 % interval over rounds and probes, in the parameter's unit. None if the range of the
    rounds takes its place."""

    @property
    def value(self) -> Value:
        """The pooled estimate, else the Hodges-Lehmann estimate over the rounds."""
        numbers = [number for number in self.values if isinstance(number, (int, float))]
        if len(numbers) < len(self.values) or isinstance(self.values[0], bool):
            return self.values[0]
        value = hodges_lehmann(numbers) if self.pooled is None else self.pooled
        return round(value) if self.unit == "B" else value

    @property
    def measured(self) -> bool:
        """True if rounds measured the value; False if it was read or shared by all rounds."""
        return len(self.values) > 1 and not isinstance(self.values[0], bool)

    def text(self, value: Value | None = None) -> str:
        """Format a value for a scenario, without quotes."""
        given = self.value if value is None else value
        if isinstance(given, bool):
            return str(given).lower()
        if isinstance(given, str):
            return given
        match self.unit:
            case "s":
                return measured_time(float(given))
            case "B":
                return binary_size(int(given))
            case "B/s":
                return f"{given:.6g} B/s"
            case _:
                return f"{given:.6g}"

    def record(self) -> ParameterRecord:
        """Return the record of the parameter."""
        numbers = [number for number in self.values if isinstance(number, (int, float))]
        rounds = list(self.values) if self.measured else []
        ends = self.interval or ((min(numbers), max(numbers)) if rounds else None)
        return ParameterRecord(
            self.field,
            self.text(),
            self.method,
            self.unit,
            rounds,
            least=self.text(ends[0]) if ends else UNSET,
            most=self.text(ends[1]) if ends else UNSET,
            curve=list(self.curve) or UNSET,
        )

    @classmethod
    def of_setting(cls, record: ParameterRecord) -> Self:
        """Read a setting from its record.

        Raises
        ------
        ValueError
            If its value cannot be parsed.
        """
        text, unit = record.value, record.unit
        value: Value = text
        if text in ("true", "false"):
            value = text == "true"
        elif unit == "s":
            value = parse_seconds(text)
        elif unit == "B":
            value = parse_bytes(text)
        elif unit != "word":
            value = float(text.removesuffix(" B/s"))
        return cls(record.field, (value,), unit, record.method)

    def toml(self) -> str:
        """Format the value as TOML."""
        text = self.text()
        return text if self.unit == "" or isinstance(self.value, bool) else f'"{text}"'
