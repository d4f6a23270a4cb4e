"""Timing of compiled tasks beside the libraries that are installed: correctness first, then medians and ratios."""
