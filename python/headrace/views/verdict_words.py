"""Verdicts of a profile in words, and the colour of each."""

from typing import NamedTuple


class VerdictWords(NamedTuple):
    """A verdict in words."""

    limit: str
    """The limit as a noun phrase."""
    meaning: str
    """What the verdict means, in a sentence."""
    mark: str | None
    """Mark on the worksheet (Hindman 2011, appendix C): "CPU", "memory", "I/O", or none."""
    colour: str
    """Colour of a phase in charts."""


VERDICTS = {
    "cpu": VerdictWords(
        "the processor",
        "The application's threads run on a processor for most of the time.",
        "CPU",
        "#D55E00",
    ),
    "cpu-quota": VerdictWords(
        "the processor quota of its control group",
        "The control group uses up its quota and is throttled. A larger quota helps, a faster disk"
        " does not.",
        "CPU",
        "#A64200",
    ),
    "process-creation": VerdictWords(
        "starting processes",
        "Most of the processor time goes into processes that live a few milliseconds: a shell loop,"
        " or a program that starts another one for each item.",
        "CPU",
        "#8B5FA3",
    ),
    "memory": VerdictWords(
        "memory",
        "The application waits for pages that the kernel reads back or swaps in.",
        "memory",
        "#CC79A7",
    ),
    "network": VerdictWords(
        "the network",
        "A network interface or a remote server is as fast as it can be.",
        "I/O",
        "#56B4E9",
    ),
    "disk-read": VerdictWords(
        "reading from the disk", "The disk reads as fast as the baseline does.", "I/O", "#0072B2"
    ),
    "disk-write": VerdictWords(
        "writing to the disk", "The disk writes as fast as the baseline does.", "I/O", "#E69F00"
    ),
    "rewrite": VerdictWords(
        "reading and writing the same disk",
        "One disk is read and written at the same time, as fast as the baseline's rewrite.",
        "I/O",
        "#009E73",
    ),
    "metadata": VerdictWords(
        "metadata operations",
        "The file system creates, opens or removes files as fast as it can.",
        "I/O",
        "#F0E442",
    ),
    "latency": VerdictWords(
        "the latency of single requests",
        "The application waits for one request after the other, and the disk is not at its limit.",
        "I/O",
        "#888888",
    ),
    "waiting": VerdictWords(
        "a wait for something else",
        "The application waits for a timer, a lock, input or another program.",
        None,
        "#BBBBBB",
    ),
    "unsure": VerdictWords(
        "an uncertain resource",
        "No use of time is clearly the largest, or too much of the time is not known.",
        None,
        "#DDDDDD",
    ),
}
"""By verdict, as in `headrace.profile.document.Verdict`. The colours are those of Okabe and Ito,
with two greys."""


def verdict_words(verdict: str | None) -> VerdictWords:
    """Return the words of a verdict, also of an unknown one."""
    unknown = VerdictWords("an unknown limit", "", None, "#DDDDDD")
    return VERDICTS.get(verdict or "", unknown)
