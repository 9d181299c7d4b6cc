"""The machine and its surroundings in three dimensions on the page."""
