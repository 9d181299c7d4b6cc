"""Motion cueing: car, commands, perception, observation, reward."""
