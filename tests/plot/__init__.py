"""Pictures, read back from what was drawn."""
