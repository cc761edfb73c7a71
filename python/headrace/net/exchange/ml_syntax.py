"""The syntax of CPN ML: what inscriptions and simple declarations use of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.net.exchange.names import ML_WORDS

DEEPEST = 60
MOST_TOKENS = 20_000

Ml = tuple[Any, ...]
"""A syntax tree; its first part says what it is:

`("int", 3)`, `("real", 1.5)`, `("text", "a")`, `("name", "x")`, `("tuple", [a, b])`,
`("record", [("f", a)])`, `("list", [a])`, `("field", "f", a)`, `("apply", f, a)`,
`("binary", "+", a, b)`, `("if", c, a, b)`, `("let", [(pattern, a)], b)`,
`("case", a, [(pattern, b)])`, `("fn", [(pattern, a)])`.
"""


class MlError(ValueError):
    """A text is no CPN ML, or more than is read of it."""


TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<real>~?\d+(?:\.\d+(?:[eE]~?\d+)?|[eE]~?\d+))
  | (?P<int>~?\d+)
  | (?P<text>"(?:[^"\\]|\\.)*")
  | (?P<name>[A-Za-z][\w']*(?:\.[A-Za-z][\w']*|\.==)*)
  | (?P<mark>@\+\+|\+\+\+|@\+|\+\+|--|\^\^|::|<=|>=|<>|=>|:=|[`+\-*/^=<>()\[\]{},;:|\#_~@.!])
    """,
    re.VERBOSE | re.ASCII,
)

LEVELS = {
    "orelse": 0,
    "andalso": 1,
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">="), 3),
    **dict.fromkeys(("++", "+++", "--"), 4),
    # In CPN ML they bind like *, but inscriptions such as x + 1 @+ 2 mean the sum.
    **dict.fromkeys(("@+", "@++"), 5),
    **dict.fromkeys(("::", "^^", "@"), 6),
    **dict.fromkeys(("+", "-", "^"), 7),
    **dict.fromkeys(("*", "/", "div", "mod"), 8),
    "`": 9,
}
"""How tightly operators bind."""

RIGHT = ("::", "@", "^^")

WORDS = ML_WORDS | {"div", "mod"}


@dataclass
class _Token:
    kind: str
    text: str


def _tokens(text: str) -> list[_Token]:
    text = _without_comments(text)
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise MlError(f"{text[at]!r} is not part of an expression")
        at = match.end()
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(_Token(kind, match[0]))
    if len(tokens) > MOST_TOKENS:
        raise MlError(f"expected at most {MOST_TOKENS} words")
    return tokens


def _without_comments(text: str) -> str:
    if "(*" not in text:
        return text
    depth, kept = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth = max(depth - 1, 0)
        elif not depth:
            kept.append(part)
    return " ".join(kept)


def parse_ml(text: str) -> Ml:
    """Return the tree of an expression.

    Raises:
        MlError: It is none.
    """
    parser = _Parser(_tokens(text))
    tree = parser.expression()
    if parser.peek() == ";":
        parser.step()
    parser.expect_end()
    return tree


def parse_declarations(text: str) -> list[tuple[str, str, Any]]:
    """Return values and functions: `("val", name, tree)` or `("fun", name, clauses)`.

    Raises:
        MlError: There is something else.
    """
    return _Parser(_tokens(text)).declarations(None)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at, self.depth = tokens, 0, 0

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else "end"

    def step(self) -> str:
        text = self.peek()
        self.at += 1
        return text

    def expect(self, expected: str) -> None:
        if self.peek() != expected:
            raise MlError(f"expected {expected!r}, not {self.peek() or 'the end'}")
        self.step()

    def expect_end(self) -> None:
        if self.kind() != "end":
            raise MlError(f"expected an operator or the end, not {self.peek()}")

    def deeper(self, inside: Callable[[], Ml]) -> Ml:
        self.depth += 1
        if self.depth > DEEPEST:
            raise MlError(f"expected at most {DEEPEST} expressions within each other")
        tree = inside()
        self.depth -= 1
        return tree

    def expression(self) -> Ml:
        return self.deeper(self._expression)

    def _expression(self) -> Ml:
        word = self.peek()
        if word == "if":
            self.step()
            condition = self.expression()
            self.expect("then")
            then = self.expression()
            self.expect("else")
            return ("if", condition, then, self.expression())
        if word == "case":
            self.step()
            value = self.expression()
            self.expect("of")
            return ("case", value, self.clauses())
        if word == "fn":
            self.step()
            return ("fn", self.clauses())
        if word in ("raise", "while", "op"):
            raise MlError(f"{word} is not read")
        return self.operators(0)

    def clauses(self) -> list[tuple[Ml, Ml]]:
        clauses = []
        while True:
            pattern = self.operators(4)
            self.expect("=>")
            clauses.append((pattern, self.expression()))
            if self.peek() != "|":
                return clauses
            self.step()

    def operators(self, level: int) -> Ml:
        left = self.application()
        while True:
            operator = self.peek()
            binds = LEVELS.get(operator)
            if self.kind() not in ("mark", "name") or binds is None or binds < level:
                return left
            self.step()
            if self.peek() in ("if", "case", "fn"):
                right = self.expression()
            else:
                above = binds if operator in RIGHT else binds + 1
                right = self.deeper(lambda above=above: self.operators(above))  # type: ignore[misc]
            left = ("binary", operator, left, right)

    def application(self) -> Ml:
        return self.deeper(self._application)

    def _application(self) -> Ml:
        if self.peek() == "#" and self.kind() == "mark":
            self.step()
            label = self.step()
            return ("field", label, self.application_part())
        if self.peek() == "~" and self.kind() == "mark":
            self.step()
            return ("apply", ("name", "~"), self.application())
        if self.peek() == "!" and self.kind() == "mark":
            self.step()
            return ("apply", ("name", "!"), self.application_part())
        function = self.application_part()
        while self._starts_atom():
            is_field = self.peek() in ("#", "!")
            argument = self._application() if is_field else self.application_part()
            function = ("apply", function, argument)
        return function

    def _starts_atom(self) -> bool:
        kind, text = self.kind(), self.peek()
        if kind == "name":
            return text not in WORDS
        return kind in ("int", "real", "text") or (
            kind == "mark" and text in ("(", "{", "[", "#", "!")
        )

    def application_part(self) -> Ml:
        return self.deeper(self._atom)

    def _atom(self) -> Ml:
        kind, text = self.kind(), self.peek()
        if kind == "name" and text == "let":
            return self._let()
        if kind == "name" and text in WORDS:
            raise MlError(f"expected a value, not {text}")
        if kind == "end":
            raise MlError("expected a value, not the end")
        self.step()
        match kind:
            case "int":
                if len(text) > 20:
                    raise MlError(f"{text[:20]}… is too large")
                return ("int", int(text.replace("~", "-")))
            case "real":
                return ("real", float(text.replace("~", "-")))
            case "text":
                return ("text", _unescaped(text[1:-1]))
            case "name":
                return ("name", text)
        match text:
            case "_":
                return ("name", "_")
            case "#":
                self.at -= 1
                return self._application()
            case "(":
                parts = self.sequence(")")
                return parts[0] if len(parts) == 1 else ("tuple", parts)
            case "[":
                return ("list", self.sequence("]"))
            case "{":
                return ("record", self.fields())
        raise MlError(f"expected a value, not {text}")

    def sequence(self, end: str) -> list[Ml]:
        parts: list[Ml] = []
        if self.peek() == end:
            self.step()
            return parts
        while True:
            parts.append(self.expression())
            if self.peek() == ":":
                # A type; the net has them from its places.
                self.step()
                self.type()
            if self.peek() != ",":
                break
            self.step()
        self.expect(end)
        return parts

    def type(self) -> None:
        while self.kind() == "name" or self.peek() in ("*", "->", "(", ")"):
            if self.peek() == ")":
                return
            if self.peek() == "(":
                raise MlError("types in parentheses are not read")
            self.step()

    def fields(self) -> list[tuple[str, Ml]]:
        fields: list[tuple[str, Ml]] = []
        while self.peek() != "}":
            label = self.step()
            if self.peek() == "=":
                self.step()
                fields.append((label, self.expression()))
            else:
                raise MlError(f"expected = after the field {label or 'at the end'}")
            if self.peek() != ",":
                break
            self.step()
        self.expect("}")
        return fields

    def _let(self) -> Ml:
        self.expect("let")
        bindings: list[tuple[Ml, Ml]] = []
        while self.peek() != "in":
            if self.peek() == ";":
                self.step()
                continue
            self.expect("val")
            bindings.append(self.binding())
        self.expect("in")
        body = self.expression()
        self.expect("end")
        return ("let", bindings, body)

    def binding(self) -> tuple[Ml, Ml]:
        pattern = self.operators(4)
        if self.peek() == ":":
            self.step()
            self.type()
        self.expect("=")
        return pattern, self.expression()

    def declarations(self, end: str | None) -> list[tuple[str, str, Any]]:
        declarations: list[tuple[str, str, Any]] = []
        while self.kind() != "end" and self.peek() != end:
            word = self.step()
            if word == ";":
                continue
            if word == "val":
                pattern, value = self.binding()
                if pattern[0] != "name":
                    raise MlError("expected val NAME = …")
                declarations.append(("val", pattern[1], value))
            elif word == "fun":
                name = self.peek()
                clauses = []
                while True:
                    if self.step() != name:
                        raise MlError(f"expected a clause of {name}")
                    parameters = []
                    while self.peek() not in ("=", ":") and self.kind() != "end":
                        parameters.append(self.application_part())
                    if self.peek() == ":":
                        self.step()
                        self.type()
                    self.expect("=")
                    clauses.append((parameters, self.expression()))
                    if self.peek() != "|":
                        break
                    self.step()
                declarations.append(("fun", name, clauses))
            else:
                raise MlError(f"expected val or fun, not {word}")
        return declarations


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u":
            return chr(int(code[1:], 16))
        if code[0].isdigit():
            return chr(int(code))
        return {"n": "\n", "t": "\t"}.get(code, code)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|\d{3}|.)", one, text, flags=re.DOTALL)
