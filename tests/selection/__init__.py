"""Choices: that they find what is known, and say why."""
