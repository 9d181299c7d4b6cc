"""The environment twin/PoseTracking-v0: task, settings and its parts."""
