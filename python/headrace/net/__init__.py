"""Nets of one's own: coloured, timed, hierarchical Petri nets with queueing stations.

Example: `docs/how-to/own-nets.md`.
"""

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
from headrace.net.results import NetResult, StateSpace
from headrace.net.written import Net, Node, Page, Port, Store, Time, Transition

__all__ = [
    "EMPTY",
    "Expression",
    "Net",
    "NetModel",
    "NetResult",
    "Node",
    "Page",
    "Port",
    "StateSpace",
    "Store",
    "Time",
    "Transition",
    "below",
    "bernoulli",
    "choose",
    "copy",
    "discrete",
    "erlang",
    "exponential",
    "greatest",
    "least",
    "load",
    "lognormal",
    "normal",
    "now",
    "pareto",
    "uniform",
    "weibull",
]
