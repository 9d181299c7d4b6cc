"""Places of a machine's joints, and of its platform at home."""
