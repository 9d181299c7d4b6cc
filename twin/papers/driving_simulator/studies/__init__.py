"""Studies of the driving simulator: what its paper calculates, and what its assumptions cost.

Reference: driving simulator paper; derivations in docs/driving_simulator.md.
"""
