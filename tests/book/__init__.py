"""The table of the book: one line for each item, its public names and its test."""
