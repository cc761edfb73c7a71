"""The command line of a job, made from its request."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace.web.jobs.commands import WITHHELD, Runnable
from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import JobRequest, RefusedRequest


def arguments(
    request: JobRequest,
    entry: Runnable,
    form: CommandForm,
    job: str,
    owner: str,
    path_of: Callable[[str, FormField], Path | str],
) -> list[str]:
    """Return the arguments of `headrace` for a request.

    Parameters:
        request: The request.
        entry: What the server knows of its command.
        form: Its parameters.
        job: Identifier of the job, which labels the result.
        owner: Name of the user, which labels the result.
        path_of: Gives the path or text for a value of a path or text parameter, or raises
            RefusedRequest.

    Raises:
        RefusedRequest: if a parameter is unknown, withheld, missing or has a value of another type.
    """
    for name in request.values:
        if form.field(name) is None or name in WITHHELD:
            raise RefusedRequest(
                f"headrace {' '.join(entry.command)} has no parameter {name}", name
            )
    options: list[str] = []
    positional: list[str] = []
    for field in form.fields:
        value = request.values.get(field.name)
        if value in (None, "", []):
            if field.required and field.name not in WITHHELD:
                raise RefusedRequest(f"{field.name}: a value is required", field.name)
            continue
        texts = _texts(value, field, path_of)
        if field.option is None:
            positional += texts
        elif field.kind == "flag":
            options += texts
        else:
            # One word each: a value that begins with a hyphen is no option.
            options += [f"{field.option}={text}" for text in texts]
    own = {one.name: one for one in form.fields if one.name in WITHHELD}
    if "as_json" in own:
        options.append("--json")
    if own.keys() & {"label", "labels"}:
        options += [f"--label=job={job}", f"--label=owner={owner}"]
    # A recording that is evaluated once more stays where it is.
    if entry.output is not None and not request.values.get("again"):
        options += [f"--output={entry.output}"]
    options += entry.extra
    return [*entry.command, *options, *(["--", *positional] if positional else [])]


def _texts(
    value: Any, field: FormField, path_of: Callable[[str, FormField], Path | str]
) -> list[str]:
    if isinstance(value, list) and not field.repeated:
        raise RefusedRequest(f"{field.name}: expected one value, not a list", field.name)
    values = value if isinstance(value, list) else [value]
    return [text for item in values for text in _text(item, field, path_of)]


def _text(
    value: Any, field: FormField, path_of: Callable[[str, FormField], Path | str]
) -> list[str]:
    match field.kind:
        case "flag":
            if not isinstance(value, bool):
                raise RefusedRequest(
                    f"{field.name} = {value!r}: expected true or false", field.name
                )
            option = field.option if value else field.negative_option
            return [] if option is None else [option]
        case "integer" | "number":
            number = float if field.kind == "number" else int
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise RefusedRequest(f"{field.name} = {value!r}: expected a number", field.name)
            try:
                amount = number(value)
            except (ValueError, OverflowError):
                raise RefusedRequest(
                    f"{field.name} = {value!r}: expected a number", field.name
                ) from None
            if field.minimum is not None and not amount >= field.minimum:
                raise RefusedRequest(
                    f"{field.name} = {value!r}: expected at least {field.minimum:g}", field.name
                )
            return [str(amount)]
        case "choice":
            if value not in field.choices:
                raise RefusedRequest(
                    f"{field.name} = {value!r}: expected one of {', '.join(field.choices)}",
                    field.name,
                )
            return [str(value)]
        case _:
            # A text may name a file, too.
            return [str(path_of(_plain(value, field), field))]


def _plain(value: Any, field: FormField) -> str:
    text = str(value)
    if not isinstance(value, str | int | float) or "\0" in text or "\n" in text:
        raise RefusedRequest(f"{field.name} = {value!r}: expected one line of text", field.name)
    return text
