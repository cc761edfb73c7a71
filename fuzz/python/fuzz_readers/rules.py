"""Rules in TOML: of verdicts, monitors, findings in traces, and recommendations of designs."""

from headrace.design.recommendation.rule_table import load_rules as load_recommendations
from headrace.monitors.rules import load_rules as load_monitor_rules
from headrace.profile.rules import load_rules as load_verdicts
from headrace.profile.trace_findings import load_rules as load_findings

READERS = (load_verdicts, load_monitor_rules, load_findings, load_recommendations)
