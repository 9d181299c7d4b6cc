"""The environment twin/BallBalance-v0: task, settings and its parts."""
