"""The command line, run as a program on real files."""
