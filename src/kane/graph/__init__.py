"""Expressions shared by value, and the straight-line programs made of them.

A Graph (arena.py) keeps one node for all equal functions, found by their residue at a random point modulo a prime
(field.py); numbers stay exact.  derivative.py differentiates on it, transplant.py copies between graphs; program.py
orders some outputs into a Program, which evaluate.py runs and every later folder takes.  functions.py is the table of
functions beyond + - * /.  Nothing here knows mechanics, names of quantities, or a target.
"""
