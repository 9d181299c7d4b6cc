"""What the console commands do, once their arguments are read."""
