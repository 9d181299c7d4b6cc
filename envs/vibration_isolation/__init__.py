"""The environment twin/VibrationIsolation-v0: task, settings and its parts."""
