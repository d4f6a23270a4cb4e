"""Checks of derived equations: an independent witness, physical laws, and other libraries where installed.

The witness (witness.py, relative.py, jets.py) computes in plain NumPy from the description alone and must share no code
with the graph or the kinematics; laws.py, exact.py and oracles.py compare.  Functions under test come in as callables
(functions.py): whether they are compiled is not known here.
"""
