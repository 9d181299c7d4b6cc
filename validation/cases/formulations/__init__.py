"""Five formulations of the dynamics."""
