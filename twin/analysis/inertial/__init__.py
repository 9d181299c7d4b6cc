"""Logs of inertial sensors on a platform: read, aligned, compared with the reference motion."""
