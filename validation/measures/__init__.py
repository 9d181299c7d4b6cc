"""Measures that several cases share: laws, motions, energy, engines against the reference."""
