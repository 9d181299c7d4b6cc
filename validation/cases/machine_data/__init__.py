"""A catalogue machine's own numbers, worked out a second time from the papers."""
