"""MathML read back: the value of an expression made of presentation elements."""

from __future__ import annotations

import math
from xml.etree import ElementTree

FUNCTIONS = {"sin": math.sin, "cos": math.cos, "tan": math.tan, "ln": math.log, "exp": math.exp, "arctan": math.atan}
CORE = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msubsup", "mover", "mfrac", "msqrt", "mtable", "mtr",
    "mtd", "mspace",
}  # fmt: skip
DOTS = {"\u02d9": "d", "\u00a8": "dd"}


def parse(text):
    """Elements without namespaces; raises when the text is no XML or holds other elements than MathML Core's."""
    root = ElementTree.fromstring(text)
    for node in root.iter():
        node.tag = node.tag.split("}")[-1]
        assert node.tag in CORE, node.tag
        children = {"msub": 2, "msup": 2, "msubsup": 3, "mover": 2, "mfrac": 2}.get(node.tag)
        assert children is None or len(node) == children, ElementTree.tostring(node)
    return root


def key(node):
    """The name that an identifier element stands for: q2, qd1, I12."""
    text = "".join(node.itertext())
    if node.tag == "mi":
        return text
    if node.tag == "mover":
        return key(node[0]) + DOTS[node[1].text]
    assert node.tag == "msub", node.tag
    below = "".join(node[1].itertext())
    return key(node[0]) + (below if below.isdigit() else f"_{below}")


class Reader:
    """A recursive reader of sums, products, powers and functions."""

    def __init__(self, names):
        self.names = names

    def value(self, nodes):
        self.items = [x for node in nodes for x in self._flat(node)]
        self.at = 0
        result = self._sum()
        assert self.at == len(self.items), self.items[self.at :]
        return result

    def _flat(self, node):
        if node.tag in ("math", "mrow"):
            return [x for child in node for x in self._flat(child)]
        return [node]

    def _peek(self):
        return self.items[self.at] if self.at < len(self.items) else None

    def _sign(self):
        node = self._peek()
        if node is not None and node.tag == "mo" and node.text in ("+", "\u2212"):
            self.at += 1
            return -1 if node.text == "\u2212" else 1
        return 0

    def _sum(self):
        total = (self._sign() or 1) * self._product()
        while sign := self._sign():
            total += sign * self._product()
        return total

    def _product(self):
        total = self._factor()
        while (node := self._peek()) is not None and node.tag == "mo" and node.text in ("\u2062", "\u22c5"):
            self.at += 1
            total *= self._factor()
        return total

    def _factor(self):
        node = self._peek()
        self.at += 1
        if node.tag == "mo" and node.text == "(":
            total = self._sum()
            assert self._peek().text == ")"
            self.at += 1
            return total
        power = 1
        base = node
        if node.tag == "msup":
            base, power = node[0], self._inside(node[1])
        if base.tag == "mi" and base.text in FUNCTIONS:
            assert self._peek().text == "\u2061"
            self.at += 1
            return FUNCTIONS[base.text](self._factor()) ** power
        return self._atom(base) ** power

    def _inside(self, node):
        return Reader(self.names).value([node])

    def _atom(self, node):
        match node.tag:
            case "mn":
                return float(node.text)
            case "mfrac":
                return self._inside(node[0]) / self._inside(node[1])
            case "msqrt":
                return math.sqrt(Reader(self.names).value(list(node)))
            case "mrow":
                return self._inside(node)
            case "mi" if node.text == "π":
                return math.pi
        return self.names[key(node)]


def value(texts, names):
    """The value of an expression written in one or more <math> elements after each other."""
    return Reader(names).value([parse(text) for text in texts])


def equation(texts):
    """Left and right side of an equation as elements (by the first equals sign)."""
    nodes = [x for text in texts for x in Reader({})._flat(parse(text))]
    place = next(k for k, x in enumerate(nodes) if x.tag == "mo" and x.text == "=")
    return nodes[:place], nodes[place + 1 :]
