"""What fitted estimators of every kind can do: be saved, and show themselves in a notebook."""

import os
from abc import ABC
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from unbend.atomic import atomic_fit


class TrainingLeftOut(AttributeError, ValueError):
    """The model was saved without the fitted rows, and what was asked for needs them."""


class Model(BaseEstimator, ABC):
    """Abstract: an estimator that can be saved and that shows its report."""

    # Public attributes that hold fitted rows, or as much: left out of files without them.
    of_training: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Make every fit atomic: an interrupted one leaves the estimator as it was."""
        super().__init_subclass__(**keywords)
        for name in ("fit", "fit_batches"):
            if name in vars(cls):
                setattr(cls, name, atomic_fit(vars(cls)[name]))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        training: bool = True,
        precision: str | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        """Write the fitted model to a file, which `unbend.load` reads.

        Parameters
        ----------
        path : path
            The file, by custom ``*.unbend``. It is written beside and renamed, so it is never
            there in part.
        training : bool, default=True
            Whether the fitted rows are kept. Without them the file is small and holds the
            embedding, but only methods that place new rows without the fitted ones (PCA,
            RandomProjection) still have a `transform`.
        precision : None or 'float32', default=None
            'float32' stores numbers in single precision: half the size, about seven digits.
        about : dict, optional
            Anything in JSON to keep with the model; it is `about_` after loading.

        Examples
        --------
        >>> import tempfile
        >>> import unbend
        >>> X = unbend.datasets.s_curve(200, random_state=0).points
        >>> model = unbend.Isomap().fit(X)
        >>> path = tempfile.mkdtemp() + "/curve.unbend"
        >>> model.save(path)
        >>> bool((unbend.load(path).transform(X + 0.01) == model.transform(X + 0.01)).all())
        True
        """
        from unbend.storage import save

        save(self, path, training=training, precision=precision, about=about)

    def _forget_file(self) -> None:
        """Drop what only a loaded model has: a new fit has nothing to do with the file."""
        for name in ("_left_out", "_precision"):
            self.__dict__.pop(name, None)

    def _as_stored(self, new: Any) -> Any:
        """Round new rows as the fitted ones were for the file: one of these is then found again."""
        single = self.__dict__.get("_precision") == "float32"
        return new.astype(np.float32).astype(np.float64) if single else new

    def __getattr__(self, name: str) -> Any:
        """Answer for attributes that are nowhere to be found."""
        if self.__dict__.get("_left_out") and not name.startswith("__"):
            raise TrainingLeftOut(
                f"this {type(self).__name__} was saved without its training data, and what you "
                "asked for needs it: save the model with training=True"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _html_repr(self) -> str:
        """Show scikit-learn's diagram and, once fitted, the report below it."""
        diagram = str(estimator_html_repr(self))
        report = self.__dict__.get("report_")
        return diagram if report is None else diagram + report._repr_html_()
