"""Base classes of estimators: declared parameters, input, and the stages of a fit."""
