"""What rides on a platform: a seated occupant, with or without a wheelchair."""
