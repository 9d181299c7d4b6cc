"""Motion cueing."""
