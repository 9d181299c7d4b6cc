"""Identification: parameters of a machine from its logs, and motions that make them visible."""
