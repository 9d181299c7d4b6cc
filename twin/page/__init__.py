"""The page in a browser that shows a live run and lets a person work with it."""
