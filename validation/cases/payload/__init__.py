"""Largest payloads of the Stewart thesis."""
