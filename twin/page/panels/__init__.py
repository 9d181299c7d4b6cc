"""Groups of controls on the page."""
