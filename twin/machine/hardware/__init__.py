"""Actuators, drives and sensors of a machine: their parameters."""
