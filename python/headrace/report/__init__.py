"""Figures and documents made from results and models."""
