"""The 6-RSS machine of the extended-configuration-space paper: free fall and heave task."""
