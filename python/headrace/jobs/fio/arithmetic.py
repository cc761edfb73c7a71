"""Arithmetic and variables in the values of options."""

import ast
import operator
import os
import re
from collections.abc import Callable, Mapping

LARGEST = 1 << 63
"""Results are below it."""
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
KEYWORDS = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
EXPRESSION = re.compile(r"\(.*\)|[0-9.]+(?:\s*[*/+]\s*[0-9.]+)+")


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Replace `${NAME}` by the environment's and `$ncpus` and the like by this machine's values.

    Raises KeyError for a variable that is not set.
    """
    text = VARIABLE.sub(lambda match: environment[match[1]], text)
    return KEYWORDS.sub(lambda match: str(_keyword(match[1])), text)


def _keyword(name: str) -> int:
    if name == "ncpus":
        return os.cpu_count() or 1
    page = os.sysconf("SC_PAGE_SIZE")
    return page if name == "pagesize" else page * os.sysconf("SC_PHYS_PAGES") >> 20


def calculated(text: str) -> str:
    """Replace a calculation such as `(4*1024)k` or `8*512` by its result.

    Raises ValueError if it is none.
    """
    if re.search(r"[*()/]", text) is None:
        return text
    match = EXPRESSION.match(text)
    try:
        if match is None:
            raise ValueError
        result = _value(ast.parse(match[0], mode="eval").body)
    except (SyntaxError, ZeroDivisionError, RecursionError, ValueError):
        raise ValueError(f"{text}: expected a calculation such as (4*1024)k") from None
    return f"{int(result)}{text[match.end() :]}"


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if number < LARGEST:
            return number
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
            result = OPERATORS[type(sign)](_value(left), _value(right))
            if abs(result) < LARGEST:
                return result
    raise ValueError
