"""Samples of known dimension."""

import numpy as np


def placed(points, columns, seed):
    """Put points into a space of more columns by a random rigid motion."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(columns, columns)))[0][: points.shape[1]]
    return points @ frame + rng.normal(size=columns)


def affine(n, d, columns, seed):
    return placed(np.random.default_rng(seed).uniform(size=(n, d)), columns, seed + 1)


def sphere(n, d, columns, seed):
    points = np.random.default_rng(seed).normal(size=(n, d + 1))
    return placed(points / np.linalg.norm(points, axis=1, keepdims=True), columns, seed + 1)


def helix(n, seed):
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(2 * t), np.sin(2 * t), t])


def paraboloid(n, d, columns, seed):
    base = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    height = np.square(base).sum(axis=1, keepdims=True) / 2
    return placed(np.hstack([base, height]), columns, seed + 1)


def moebius(n, seed):
    rng = np.random.default_rng(seed)
    turn, across = rng.uniform(0, 2 * np.pi, n), rng.uniform(-0.3, 0.3, n)
    radius = 1 + across * np.cos(turn / 2)
    flat = [radius * np.cos(turn), radius * np.sin(turn), across * np.sin(turn / 2)]
    return np.column_stack(flat)


def waves(n, d, columns, seed):
    """Fold d parameters smoothly into many columns."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(size=(n, d))
    phases = base @ rng.normal(size=(d, columns // 2)) * 0.5
    return np.hstack([np.sin(phases), np.cos(phases)])
