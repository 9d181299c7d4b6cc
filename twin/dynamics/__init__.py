"""Dynamics of parallel platforms: leg tips, assembly, energy, integration."""
