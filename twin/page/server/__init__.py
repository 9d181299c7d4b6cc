"""The page's server: the socket it listens on, who may use it, and its connections."""
