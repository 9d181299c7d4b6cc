"""Parts of controllers that run at every sample."""
