"""Saved models: a zip of arrays and one JSON document, described in docs/models.md."""

from unbend.storage.model import load, save

__all__ = ["load", "save"]
