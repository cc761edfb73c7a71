"""Mutations of texts by their tokens: numbers, quoted texts and words, whatever the format.

Changes of single bytes seldom leave JSON, TOML or XML intact. These do mostly, so that the checks
of values behind a parser are reached too.
"""

import random
import re

TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[A-Za-z_][\w.-]*')
LARGEST_BRACKET = 20_000
"""Levels of nesting."""
VALUES = (
    *(b"0", b"-1", b"1", b"0.5", b"-0.0", b"1e-320", b"1e308", b"-1e308", b"1e999", b"nan", b"inf"),
    *(b"2147483648", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809"),
    *(b"18446744073709551615", b"18446744073709551616", b"9" * 40, b"1" * 5000),
    *(b"null", b"true", b"false", b"[]", b"{}", b'""', b"[[]]", b'[""]', b"[0]", b'{"": 0}'),
    *(
        b'"\\u0000"',
        b'"\\ud800"',
        b"\xff",
        "\u2028\u0130".encode(),
        b'"nan"',
        b'"-1 s"',
        b'"1e999 GB"',
    ),
)


def mutate(content: bytes, largest: int, seed: int) -> bytes:
    """Return a text with one to three tokens or lines changed, of at most `largest` bytes."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        content = chance.choice((_token, _token, _token, _line))(content, chance)
    return content[:largest]


def _token(content: bytes, chance: random.Random) -> bytes:
    """Replace a token by a value or another token, remove it, or put brackets around it."""
    tokens = [it.span() for it in TOKEN.finditer(content)]
    if not tokens:
        return content + chance.choice(VALUES)
    start, end = chance.choice(tokens)
    first, last = chance.choice(tokens)
    kind = chance.randrange(8)
    if kind < 4:
        new = chance.choice(VALUES)
    elif kind < 6:
        new = content[first:last]
    elif kind == 6:
        new = b""
    else:
        depth = chance.choice((1, 2, 150, LARGEST_BRACKET))
        new = b"[" * depth + content[start:end] + b"]" * depth
    return content[:start] + new + content[end:]


def _line(content: bytes, chance: random.Random) -> bytes:
    """Remove, repeat or move a line."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randint(0, len(lines)), line)
    return b"".join(lines)
