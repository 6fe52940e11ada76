"""Programs to run with ``python -m``; nothing here computes what the library does not."""
