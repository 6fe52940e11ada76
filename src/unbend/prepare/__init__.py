"""Preparation of tables: kinds of columns, missing values, units, categories and dates.

`Prepare` is a transformer in front of any method: ``make_pipeline(Prepare(), Isomap())``.
"""

from unbend.prepare.columns import Column, Columns, read_columns
from unbend.prepare.encoders import UnseenCategoryWarning
from unbend.prepare.estimator import ColumnSummary, Prepare
from unbend.prepare.kinds import Inference, infer_kind
from unbend.prepare.problems import Problem, UnusableTable, find_problems
from unbend.units import ScaleDecision, decide_scale

__all__ = [
    "Column",
    "ColumnSummary",
    "Columns",
    "Inference",
    "Prepare",
    "Problem",
    "ScaleDecision",
    "UnseenCategoryWarning",
    "UnusableTable",
    "decide_scale",
    "find_problems",
    "infer_kind",
    "read_columns",
]
