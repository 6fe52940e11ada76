"""Denoising: surfaces estimated from noisy rows, and landmarks on them."""

from unbend.denoising.charts import chart_evenness, lost_neighbors
from unbend.denoising.landmarks import Landmarks, project_landmarks
from unbend.denoising.measurement import NoiseMeasurement, Sample, measure_noise
from unbend.denoising.projection import Denoised, denoise

__all__ = [
    "Denoised",
    "Landmarks",
    "NoiseMeasurement",
    "Sample",
    "chart_evenness",
    "denoise",
    "lost_neighbors",
    "measure_noise",
    "project_landmarks",
]
