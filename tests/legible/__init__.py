"""Pages as a person sees them: overflow, clipped and overlapping text, contrast, missing texts."""
