"""Vibration isolation: commands, observation, reward."""
