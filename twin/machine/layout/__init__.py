"""Positions of a machine's joints, and the pose of its platform at home."""
