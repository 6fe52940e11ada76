"""Measurements, each a script that writes JSON beside itself."""
