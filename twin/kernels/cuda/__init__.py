"""Kernels of a graphics card, made from the source of those of the processor."""
