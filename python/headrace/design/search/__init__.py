"""Search the designs of a catalogue for one that meets a worksheet."""

from headrace.design.search.solution import BUDGET, Search, solve

__all__ = ["BUDGET", "Search", "solve"]
