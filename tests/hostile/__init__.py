"""Generated bad input: each ends in a result without NaN or in a TwinError, soon and quietly."""
