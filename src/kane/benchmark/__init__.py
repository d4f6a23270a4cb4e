"""Timing of compiled tasks beside the libraries that are installed: correctness first, then medians and ratios.

It knows programs, native code and a robot's file for the peers; it derives nothing and decides nothing about the code.
"""
