"""Ball balance: commands, observation, reward."""
