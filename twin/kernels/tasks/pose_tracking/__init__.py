"""Pose tracking: commands, observation, reward."""
