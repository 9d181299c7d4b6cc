"""Kinematics of a machine as C source for its controller."""
