"""Prismatic actuators perpendicular to the platform, their feet on the floor."""
