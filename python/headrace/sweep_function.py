"""`hr.sweep` for type checkers: imported from its package, they would take it for a module."""

from headrace.sweep.sweep import sweep

__all__ = ["sweep"]
