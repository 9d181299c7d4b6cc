"""Numbers that the papers print, and the errata."""
