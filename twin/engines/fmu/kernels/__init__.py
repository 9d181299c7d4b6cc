"""Kernels of a unit, called from C."""
