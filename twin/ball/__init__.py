"""A ball that rolls on the platform: its numbers, its equations, and where it is."""
