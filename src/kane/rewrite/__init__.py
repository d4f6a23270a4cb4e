"""Passes: a Program, or the ways to compute values, with the same values at a lower price.

factor.py, sums.py, pairs.py and rules.py find cheaper ways, scale.py better units; alternatives.py keeps ways side by
side and select.py chooses;
fuse.py, schedule.py, split.py and sincos.py prepare a Program for processors and compilers.  This folder knows the
graph and prices of operations; no mechanics, and no language that programs are printed in.
"""
