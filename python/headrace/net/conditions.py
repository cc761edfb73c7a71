"""Conditions on the numbers of tokens of places, as sums."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class NoSum(ValueError):
    """A part of a condition is no sum of tokens."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__(
            f"{ast.unparse(node)!r}: expected comparisons of sums such as a + 2 * b >= c, joined by"
            " and, or and not"
        )


@dataclass
class Sum:
    """Tokens of places, each times a number, and a constant."""

    constant: int = 0
    weights: dict[int, int] = field(default_factory=dict)
    """By the number of the place."""

    def plus(self, other: "Sum", times: int = 1) -> "Sum":
        """Return this and some times another one."""
        weights = dict(self.weights)
        for place, weight in other.weights.items():
            weights[place] = weights.get(place, 0) + times * weight
        return Sum(self.constant + times * other.constant, weights)


def evaluated(
    text: str,
    place_of: Callable[[str], int],
    compared: Callable[[Sum, str], Any],
    constant: Callable[[bool], Any],
) -> Any:
    """Evaluate a condition in a domain that has the operators `&`, `|` and `~`.

    Parameters:
        place_of: Returns the number of a place by its name.
        compared: Returns where a sum is, for instance, `>=` 0.
        constant: Returns what holds everywhere or nowhere.

    Raises:
        NoSum: It is more than comparisons of sums.
    """

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.BoolOp):
            first, *others = map(value, node.values)
            for other in others:
                first = first & other if isinstance(node.op, ast.And) else first | other
            return first
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~value(node.operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            difference = total(node.left).plus(total(node.comparators[0]), -1)
            return compared(difference, COMPARED[type(node.ops[0])])
        if isinstance(node, ast.Name) and node.id in ("true", "false"):
            return constant(node.id == "true")
        raise NoSum(node)

    def total(node: ast.expr) -> Sum:
        match node:
            case ast.Constant(value=bool()):
                raise NoSum(node)
            case ast.Constant(value=int(number)):
                return Sum(number)
            case ast.Name(id=name):
                return Sum(0, {place_of(name): 1})
            case ast.Call(func=ast.Name(id="tokens"), args=[ast.Constant(value=str(name))]):
                return Sum(0, {place_of(name): 1})
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Sum().plus(total(operand), -1)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                return total(left).plus(total(right), 1 if isinstance(sign, ast.Add) else -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                one, other = total(left), total(right)
                if one.weights and other.weights:
                    raise NoSum(node)
                factor, terms = (other, one) if one.weights else (one, other)
                return Sum().plus(terms, factor.constant)
            case _:
                raise NoSum(node)

    return value(ast.parse(text.strip(), mode="eval").body)
