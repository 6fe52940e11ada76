"""Denoising: surfaces estimated from noisy rows, and landmarks on them."""

from unbend.denoising.landmarks import Landmarks, project_landmarks
from unbend.denoising.measurement import NoiseMeasurement, Sample, measure_noise
from unbend.denoising.projection import Denoised, denoise

__all__ = [
    "Denoised",
    "Landmarks",
    "NoiseMeasurement",
    "Sample",
    "denoise",
    "measure_noise",
    "project_landmarks",
]
