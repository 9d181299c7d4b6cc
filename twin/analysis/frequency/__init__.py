"""Frequency responses: measured on any engine, modelled, and from the linearised machine."""
