"""Frequency responses of the linearised machine, calculated and measured."""
