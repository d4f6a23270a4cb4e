"""Which formulation and which arithmetic cost the fewest operations.

Formulations of a tree (formulation.py: origins, base parameters, forms of moments), all forms of the recursion side by
side (recursion.py, parallel.py), then arithmetic (kane.rewrite); every result is proved equal at random primes.  The
price is operations by the counting rule: targets and processors are not known here.
"""

from kane.search.local import Saved
from kane.search.optimise import Effort, Searched, check_effort, optimise
from kane.search.origins import Traced, trace
from kane.search.sources import Sources, find_sources
from kane.search.table import MethodTable, Row, method_table, unshared

__all__ = [
    "Effort",
    "MethodTable",
    "Row",
    "Saved",
    "Searched",
    "Sources",
    "Traced",
    "check_effort",
    "find_sources",
    "method_table",
    "optimise",
    "trace",
    "unshared",
]
