"""Inertial sensor: accelerometers and gyroscopes on the platform."""
