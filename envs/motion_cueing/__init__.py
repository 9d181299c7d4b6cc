"""The environment twin/MotionCueing-v0: task, settings and its parts."""
