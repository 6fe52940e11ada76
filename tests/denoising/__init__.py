"""Denoising."""
