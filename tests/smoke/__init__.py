"""About a minute of tests for an installed wheel, on any Python and any supported dependencies."""
