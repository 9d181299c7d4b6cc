"""Observer of leg motions and disturbances, and the cascade around it."""
