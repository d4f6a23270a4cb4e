"""Which formulation and which arithmetic cost the fewest operations."""

from kane.search.optimise import Effort, Saved, Searched, check_effort, optimise
from kane.search.table import MethodTable, Row, method_table, unshared

__all__ = [
    "Effort",
    "MethodTable",
    "Row",
    "Saved",
    "Searched",
    "check_effort",
    "method_table",
    "optimise",
    "unshared",
]
