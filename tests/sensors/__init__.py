"""Localisation of sensors."""
