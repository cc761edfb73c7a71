"""Monitors: hosts, their states and figures over time, and the rules of the states."""

from headrace.web.page import Page
from headrace.web.pages.monitors.host import at_job, host
from headrace.web.pages.monitors.hosts import hosts
from headrace.web.pages.monitors.rules import rules

PAGE = Page(
    "/monitors",
    "Monitors",
    "query_stats",
    hosts,
    {"/monitors/rules": rules, "/monitors/host/{name}": host, "/monitors/job/{identifier}": at_job},
)
