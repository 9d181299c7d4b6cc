"""Cases that make sense for every machine."""
