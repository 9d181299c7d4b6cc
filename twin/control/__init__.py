"""Controllers, and the loop that closes them around a machine with its plant."""
