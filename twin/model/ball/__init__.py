"""A ball on the platform: parameters, positions on the plate, rolling motion."""
