"""Checks of what users pass, with the same sentence for the same mistake everywhere."""
