"""Tuning by optimisation: step specifications, the search for gains that meet them, their use."""
