"""Laws of low-rank factorisations, choices of columns, and bounds."""
