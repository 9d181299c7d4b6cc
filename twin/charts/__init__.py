"""Charts of plotly in the style of the project."""
