"""Machines as mechanisms: one file for each kind of leg, and the assembly of the whole."""
