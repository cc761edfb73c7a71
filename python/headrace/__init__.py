"""Headrace: a workbench for high-performance storage."""
