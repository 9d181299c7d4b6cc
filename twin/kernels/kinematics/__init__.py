"""Kinematics of parallel platforms: actuator coordinates, Jacobian, forward solution."""
