"""A corpus of messy tables and what must be true of them."""
