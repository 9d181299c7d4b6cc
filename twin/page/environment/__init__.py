"""The page of an environment: episodes, drivers and charts."""
