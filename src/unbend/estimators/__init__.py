"""What estimators share: declared parameters, the gate for input, and the stages of a fit."""
