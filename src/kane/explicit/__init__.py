"""The explicit dynamic model of Armstrong, Khatib and Burdick 1986 for any tree of turns and slides.

A(q) qdd + B(q) [qd qd] + C(q) [qd^2] + g(q), expanded over exact coefficients (algebra.py): energy.py is step 1,
lumping.py and forms.py step 2, christoffel.py steps 3 and 4, significance.py and abbreviate.py step 5 with certified
errors (bounds.py); sampling.py is a second way to the same numbers.  Independent of the recursion in equations/, so
that each checks the other; no target language and no machine code.
"""
