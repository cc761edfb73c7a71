"""Lifetimes of disks, fitted from failure records."""
