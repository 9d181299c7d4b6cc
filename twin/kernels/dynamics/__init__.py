"""Dynamics of parallel platforms: assembly, forward and inverse dynamics, state derivative."""
