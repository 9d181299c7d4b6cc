"""Kinematics of parallel platforms: lengths, Jacobians, forward solution, limits, singularity."""
