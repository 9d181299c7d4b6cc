"""Machines on springs: stiffness, static equilibrium, sag and modes."""
