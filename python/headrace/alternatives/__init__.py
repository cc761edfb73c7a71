"""Alternatives to a scenario's kinds and levels: another device, scheduler, layout or system."""

from headrace.alternatives.alternative import Alternative, LeftOut, alternatives
from headrace.alternatives.table import GROUPS, Group, group, group_of, is_at_most

__all__ = [
    "GROUPS",
    "Alternative",
    "Group",
    "LeftOut",
    "alternatives",
    "group",
    "group_of",
    "is_at_most",
]
