"""Attacks on a service of one's own: one file each, with `measure()`."""
