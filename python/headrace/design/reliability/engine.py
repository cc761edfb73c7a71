"""Answers to questions about reliability, from the compiled engine."""

import functools
from collections.abc import Callable

import msgspec

from headrace import _core
from headrace.design.reliability.answer import Answer
from headrace.design.reliability.question import Question


def ask(question: Question, on_progress: Callable[[float], None] | None = None) -> Answer:
    """Answer a question by formulas, a Markov chain or simulation.

    Args:
        question: The question.
        on_progress: Called with the part of the simulation that is done, from 0 to 1.

    Raises:
        ValueError: The question is impossible; the message names its field.
    """
    text = msgspec.json.encode(question).decode()
    return msgspec.json.decode(_core.reliability(text, on_progress), type=Answer)


@functools.lru_cache(maxsize=4096)
def ask_again(question: Question) -> Answer:
    """Answer a question as `ask` does, and remember the answer: a search asks many times."""
    return ask(question)
