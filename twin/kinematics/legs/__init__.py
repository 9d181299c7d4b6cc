"""Geometry of the legs: one file per kind, and `drive`, which chooses by the constants' type."""
