"""Turns the successful runs of a strong teacher agent into a memory that a small student agent reads."""
