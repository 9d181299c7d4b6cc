"""Tank motion under control."""
