"""Active damping by local loops."""
