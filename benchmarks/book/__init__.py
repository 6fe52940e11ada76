"""The book's experiments on surfaces, measured: which method works where, and what it got wrong."""
