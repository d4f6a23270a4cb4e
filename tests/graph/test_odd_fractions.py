"""Fractions of angles beyond the field's smooth denominators: parity and multiples hold."""

from fractions import Fraction

from kane.graph.arena import Graph


def test_parity_and_multiples_of_odd_fractions():
    g = Graph()
    x = g.mul(g.number(Fraction(89, 121)), g.symbol("q"))
    assert g.cos(g.neg(x)) == g.cos(x)
    assert g.sin(g.neg(x)) == g.neg(g.sin(x))
    assert g.sub(g.sin(g.add(x, x)), g.mul(g.number(2), g.mul(g.sin(x), g.cos(x)))) < 2
