"""Drives and sensors: actuation, encoders, limit switches, inertial sensor."""
