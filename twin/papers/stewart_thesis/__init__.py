"""Reproduction of the Stewart thesis: velocity steps, frequency response, drives.

Reference: Albayrak, thesis, METU 2005.
"""
