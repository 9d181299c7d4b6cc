"""Inertial sensor, encoders and homing."""
