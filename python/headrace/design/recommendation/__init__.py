"""Recommendations for the zones of a worksheet, by a table of rules with their sources."""

from headrace.design.recommendation.answers import unknown_answers
from headrace.design.recommendation.choices import recommend
from headrace.design.recommendation.facts import network_class
from headrace.design.recommendation.rule_table import RuleTable, load_rules

__all__ = ["RuleTable", "load_rules", "network_class", "recommend", "unknown_answers"]
