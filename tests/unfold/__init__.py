"""Maximum variance unfolding."""
