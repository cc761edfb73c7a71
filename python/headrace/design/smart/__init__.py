"""Failure risk of the disks that one has, from their SMART data."""
