"""Saved models: a zip of arrays and one JSON document, described in docs/models.md."""

from unbend.storage.model import load, pack, save, unpack

__all__ = ["load", "pack", "save", "unpack"]
