"""Logs of inertial sensors on a platform: read, aligned, compared with their reference."""
