"""Small calculations of `headrace design`, which a helper process under limits computes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headrace.commands.design import record
from headrace.design.figure import Figure
from headrace.web.design.figures import FigureBook
from headrace.web.jobs import CommandForm, RefusedRequest
from headrace.web.site import site

LONGEST_ERROR = 2000
"""Characters of an error, which quotes the value."""


async def calculate(form: CommandForm, values: Mapping[str, Any]) -> FigureBook:
    """Compute figures from the parameters of a command.

    Parameters:
        form: The command, whose name is in `CALCULATIONS`.
        values: Values of its parameters, by name.

    Raises:
        RefusedRequest: A value is wrong or missing, or the calculation takes too long.
    """
    name = form.command[-1]
    fixed = record(name).form.fixed
    for parameter, value in values.items():
        if parameter in fixed:
            raise RefusedRequest(f"the calculator {name} has no parameter {parameter}", parameter)
        if str(value).strip().lower().startswith("table"):
            raise RefusedRequest(f"{parameter}: expected no file", parameter)
    # An empty field of a form has no value.
    given = {parameter: value for parameter, value in values.items() if value != ""}
    text = msgspec.json.encode({"command": name, "values": {**given, **fixed}}).decode()
    answer = await site().calculations.ask("calculate", text)
    if answer.error is not None:
        raise RefusedRequest(answer.error.message[:LONGEST_ERROR], answer.error.parameter)
    figures = msgspec.convert(answer.result, list[Figure])
    return FigureBook(figures, str(values.get("currency", ""))[:20])
