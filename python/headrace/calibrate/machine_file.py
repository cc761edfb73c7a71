"""Write a calibrated machine as a machine file, which a scenario includes with `system`."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from headrace._core import VERSION
from headrace.calibrate.checks import Check
from headrace.calibrate.other_load import describe
from headrace.calibrate.parameter import Parameter


def machine_file(
    directory: str,
    file_system: str,
    parameters: Iterable[Parameter],
    checks: Iterable[Check],
    started: datetime,
    host: str,
    others: Sequence[float] = (),
) -> str:
    """Return the text of a machine file.

    Parameters
    ----------
    directory
        The calibrated directory.
    file_system
        Type of its file system, such as ext4.
    parameters
        All parameters, read and measured.
    checks
        All checks.
    started
        Start of the calibration.
    host
        Name of the machine.
    others
        Share of the processors that other programs used in each round; empty if it is unknown.
    """
    parameters = list(parameters)
    date = started.isoformat(timespec="seconds")
    lines = [
        f"# The {file_system} under {directory} on {host}, as headrace calibrate",
        f"# found it on {date} with Headrace {VERSION}. A scenario takes it by",
        '#   system = "this-file.toml"',
        *([f"# {describe(others)}"] if others else []),
        f'system = "{file_system}"',
    ]
    section = None
    for parameter in sorted(parameters, key=lambda one: one.field.split(".")[:-1]):
        path, name = parameter.field.rsplit(".", 1)
        if path != section:
            section = path
            lines += ["", f"[{path}]"]
            if path == "machine.device":
                lines.append('kind = "throttled"')
        lines += [f"# {parameter.method}", f"{name} = {parameter.toml()}"]
    for parameter in parameters:
        if parameter.measured:
            values = ", ".join(f'"{parameter.text(value)}"' for value in parameter.values)
            lines += [
                "",
                "[[calibration]]",
                f'field = "{parameter.field}"',
                f"values = [{values}]",
                *(_curve(parameter) if parameter.curve else ()),
                f'method = "{parameter.method}"',
                f'date = "{date}"',
            ]
    for check in checks:
        lines += ["", check.toml()]
    return "\n".join(lines) + "\n"


def _curve(parameter: Parameter) -> list[str]:
    points = ", ".join(f'"{point}"' for point in parameter.curve)
    return [f"curve = [{points}]"]
