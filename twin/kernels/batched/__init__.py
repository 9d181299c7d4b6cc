"""Steps of many machines at once."""
