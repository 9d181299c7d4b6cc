"""Charts of a live run on the page."""
