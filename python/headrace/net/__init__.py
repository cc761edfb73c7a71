"""Nets of one's own: coloured, timed, hierarchical Petri nets with queueing stations.

Example: `docs/how-to/own-nets.md`.
"""

from headrace.net.exchange import LeftOutWarning
from headrace.net.expressions import (
    EMPTY,
    Expression,
    below,
    bernoulli,
    choose,
    copy,
    discrete,
    erlang,
    exponential,
    greatest,
    least,
    lognormal,
    normal,
    now,
    pareto,
    uniform,
    weibull,
)
from headrace.net.model import NetModel, load
from headrace.net.monitors import (
    Firing,
    Monitor,
    breakpoint_when,
    collector,
    counter,
    marking,
    observation,
    tokens,
)
from headrace.net.play import Enabled, Fired, Pending, Play, Tokens
from headrace.net.results import NetResult, NetSolution, StateSpace
from headrace.net.written import Net, Node, Page, Port, Store, Time, Transition

__all__ = [
    "EMPTY",
    "Enabled",
    "Expression",
    "Fired",
    "Firing",
    "LeftOutWarning",
    "Monitor",
    "Net",
    "NetModel",
    "NetResult",
    "NetSolution",
    "Node",
    "Page",
    "Pending",
    "Play",
    "Port",
    "StateSpace",
    "Store",
    "Time",
    "Tokens",
    "Transition",
    "below",
    "bernoulli",
    "breakpoint_when",
    "choose",
    "collector",
    "copy",
    "counter",
    "discrete",
    "erlang",
    "exponential",
    "greatest",
    "least",
    "load",
    "lognormal",
    "marking",
    "normal",
    "now",
    "observation",
    "pareto",
    "tokens",
    "uniform",
    "weibull",
]
