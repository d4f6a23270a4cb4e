"use strict";
// Formulas as MathML: names, formulas written as text, and terms of the explicit model.
(function (kane) {
  const NS = "http://www.w3.org/1998/Math/MathML";
  const m = (kane.m = function (tag, ...children) {
    const node = document.createElementNS(NS, tag);
    node.append(...children.filter((x) => x !== null && x !== undefined));
    return node;
  });
  const row = (...x) => (x.length === 1 ? x[0] : m("mrow", ...x));
  const mi = (text) => m(/^\d+$/.test(text) ? "mn" : "mi", text);
  const mo = (text) => m("mo", text);
  const mn = (text) => m("mn", text);
  const TIMES = "\u2062", MINUS = "\u2212", APPLY = "\u2061";
  kane.math = (node, block) => {
    const math = m("math", node);
    if (block) math.setAttribute("display", "block");
    return math;
  };

  // Names: q2 has a subscript, qd_elbow a dot and a subscript, theta is the letter.
  const GREEK = {};
  const letters = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(" ");
  [..."αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"].forEach((c, k) => (GREEK[letters[k]] = c));
  const DOTTED = { qd: ["q", "\u02d9"], qdd: ["q", "\u00a8"], qdot: ["q", "\u02d9"], qddot: ["q", "\u00a8"], udot: ["u", "\u02d9"], ud: ["u", "\u02d9"] };
  const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
  const letter = (text) => own(GREEK, text) || text;
  kane.name = function (text) {
    const rate = /('|_dot)$/.test(text), name = text.replace(/('|_dot)$/, "");
    const found = name.match(/^(\p{L}+)(\d*)((?:[_^](?:\{[^{}]*\}|[^_^{}]+))*)$/u);
    if (!found) return rate ? accent(mi(name), "˙") : mi(name);
    const scripts = [...found[3].matchAll(/([_^])(\{[^{}]*\}|[^_^{}]+)/g)];
    const [base, dot] = own(DOTTED, found[1]) || [letter(found[1]), ""];
    let node = mi(base);
    if (dot) node = accent(node, rate ? "¨" : dot);
    else if (rate) node = accent(node, "˙");
    const of = (mark) => {
      const parts = scripts.filter((s) => s[1] === mark).map((s) => letter(s[2].replace(/^\{|\}$/g, "")));
      return parts.some((p) => /^\p{L}{3,}/u.test(p)) ? [parts.join("_")] : parts; // words: one name
    };
    const below = (found[2] ? [found[2]] : []).concat(of("_")), above = of("^");
    const list = (parts) => row(...parts.flatMap((p, k) => (k ? [mo(","), mi(p)] : [mi(p)])));
    if (below.length && above.length) node = m("msubsup", node, list(below), list(above));
    else if (below.length) node = m("msub", node, list(below));
    else if (above.length) node = m("msup", node, list(above));
    return node;
  };
  function accent(node, mark) {
    const over = m("mover", node, mo(mark));
    over.setAttribute("accent", "true");
    return over;
  }

  // Formulas as text -> tree.  `symbols`: names that are taken whole, whatever characters they hold.
  const FUNCTIONS = { asin: "arcsin", acos: "arccos", atan: "arctan", log: "ln", sign: "sgn" };
  function tokens(text, symbols) {
    const list = [];
    let at = 0;
    while (at < text.length) {
      const rest = text.slice(at);
      const space = rest.match(/^\s+/);
      if (space) { at += space[0].length; continue; }
      const word = rest.match(/^[\p{L}_][\p{L}\p{N}_.']*/u);
      const known = symbols.find((s) => rest.startsWith(s) && (!word || s.length >= word[0].length));
      if (known) { list.push({ kind: "name", text: known }); at += known.length; continue; }
      const number = rest.match(/^\d+(\.\d+)?(e[+-]?\d+)?/);
      if (number) { list.push({ kind: "number", text: number[0] }); at += number[0].length; continue; }
      if (word) { list.push({ kind: "name", text: word[0] }); at += word[0].length; continue; }
      const sign = rest.match(/^(\*\*|[-+*/^(),=])/);
      if (!sign) throw new Error("not a formula: " + text);
      list.push({ kind: sign[0] === "^" ? "**" : sign[0], text: sign[0] });
      at += sign[0].length;
    }
    list.push({ kind: "end", text: "" });
    return list;
  }
  kane.parse = function (text, symbols) {
    const list = tokens(text, symbols || []);
    let at = 0;
    const peek = () => list[at].kind, next = () => list[at++];
    const take = (kind) => { if (peek() !== kind) throw new Error("not a formula: " + text); return next(); };
    function sum() {
      const terms = [[1, term()]];
      while (peek() === "+" || peek() === "-") terms.push([next().kind === "+" ? 1 : -1, term()]);
      return terms.length === 1 ? terms[0][1] : { op: "sum", terms };
    }
    function term() {
      let left = unary();
      while (peek() === "*" || peek() === "/") {
        if (next().kind === "*") {
          const right = unary();
          left = left.op === "product" ? { op: "product", factors: [...left.factors, right] } : { op: "product", factors: [left, right] };
        } else left = { op: "quotient", above: left, below: unary() };
      }
      return left;
    }
    function unary() {
      if (peek() === "-") { next(); return { op: "minus", of: term() }; }
      return power();
    }
    function power() {
      const base = atom();
      if (peek() !== "**") return base;
      next();
      return { op: "power", base, exponent: unary() };
    }
    function atom() {
      const token = next();
      if (token.kind === "number") return { op: "number", text: token.text };
      if (token.kind === "(") { const inner = sum(); take(")"); return inner; }
      if (token.kind !== "name") throw new Error("not a formula: " + text);
      if (peek() !== "(") return { op: "name", text: token.text };
      next();
      const args = [sum()];
      while (peek() === ",") { next(); args.push(sum()); }
      take(")");
      return { op: "call", text: token.text, args };
    }
    const result = sum();
    take("end");
    return result;
  };

  // Tree -> MathML; rank: 0 sum, 1 product, 2 atom.
  const rank = (t) => ({ sum: 0, minus: 0, product: 1, quotient: 2, power: 2 })[t.op] ?? 2;
  const parentheses = (node) => m("mrow", mo("("), node, mo(")"));
  const within = (t, least) => (rank(t) < least ? parentheses(tree(t)) : tree(t));
  function tree(t) {
    switch (t.op) {
      case "number": return numeral(t.text);
      case "name": return t.text === "pi" ? m("mi", "π") : kane.name(t.text);
      case "minus": return m("mrow", mo(MINUS), within(t.of, 1));
      case "sum": return signed(t.terms.map(([sign, x]) => (x.op === "minus" ? [-sign, x.of] : [sign, x])).map(([sign, x]) => [sign, within(x, 1)]));
      case "product": return product(t.factors.map((x) => within(x, 1)));
      case "quotient": return m("mfrac", tree(t.above), tree(t.below));
      case "power": return m("msup", t.base.op === "name" || t.base.op === "number" ? tree(t.base) : parentheses(tree(t.base)), tree(t.exponent));
      case "call":
        if (t.text === "sqrt") return m("msqrt", tree(t.args[0]));
        if (t.text === "abs") return m("mrow", mo("|"), tree(t.args[0]), mo("|"));
        return kane.call(m("mi", own(FUNCTIONS, t.text) || t.text), row(...t.args.flatMap((x, k) => (k ? [mo(","), tree(x)] : [tree(x)]))), false);
    }
    throw new Error("unknown " + t.op);
  }
  function numeral(text) {
    const [digits, exponent] = text.split("e");
    if (exponent === undefined) return mn(text);
    const power = exponent.startsWith("-") ? m("mrow", mo(MINUS), mn(exponent.slice(1))) : mn(exponent.replace("+", ""));
    return m("mrow", mn(digits), mo("⋅"), m("msup", mn("10"), power));
  }
  const signed = (kane.sum = (terms) => m("mrow", ...terms.map(([sign, node]) => [sign, Array.isArray(node) ? m("mrow", ...node) : node]).flatMap(([sign, node], k) => (k || sign < 0 ? [mo(sign < 0 ? MINUS : "+"), node] : [node]))));
  const startsWithDigit = (node) => { let x = node; while (x.firstElementChild) x = x.firstElementChild; return x.localName === "mn"; };
  // A function name stands a little apart from what is before it.
  const spaced = (sign) => { const node = mo(sign); node.setAttribute("rspace", "0.17em"); return node; };
  const isCall = (node) => [...node.children].some((x) => x.textContent === APPLY);
  const product = (kane.product = (factors) => row(...factors.flatMap((f, k) => (k ? [startsWithDigit(f) ? mo("⋅") : isCall(f) ? spaced(TIMES) : mo(TIMES), f] : [f]))));
  // A function of an argument; a plain name needs no parentheses.
  kane.call = (name, argument, plain) => (plain ? m("mrow", name, spaced(APPLY), argument) : m("mrow", name, mo(APPLY), parentheses(argument)));
  // A sum in pieces between which a line may break: one <math> a term.
  kane.wrapped = function (left, terms) {
    const pieces = terms.flatMap(([sign, node], k) => {
      const [first, ...rest] = Array.isArray(node) ? node : [node];
      return [k || sign < 0 ? m("mrow", prefix(sign), first) : first, ...rest].map((x) => kane.math(x));
    });
    const head = left ? [kane.math(m("mrow", left, infix("=")))] : [];
    return [...head, ...pieces].flatMap((x, k) => (k ? [" ", x] : [x]));
  };
  const formed = (sign, form) => { const node = mo(sign); node.setAttribute("form", form); return node; };
  const infix = (sign) => formed(sign, "infix");
  const prefix = (sign) => { const node = formed(sign < 0 ? MINUS : "+", "prefix"); node.setAttribute("rspace", "0.22em"); return node; };

  // A long factor in pieces between which a line may break: within the parentheses of its sums.
  const LONG = 14;
  const leaves = (t) => ({ sum: () => t.terms.reduce((n, [, x]) => n + leaves(x), 0), minus: () => leaves(t.of), product: () => t.factors.reduce((n, x) => n + leaves(x), 0),
    quotient: () => Math.max(leaves(t.above), leaves(t.below)), power: () => leaves(t.base), call: () => 1 + leaves(t.args[0]) })[t.op]?.() ?? 1;
  const bracket = (sign) => { const node = mo(sign); node.setAttribute("stretchy", "false"); return node; };
  function pieces(t) {
    if (leaves(t) <= LONG) return [within(t, 1)];
    if (t.op === "sum") {
      const parts = t.terms.flatMap(([sign, x], k) => {
        const [own, inner] = x.op === "minus" ? [-sign, x.of] : [sign, x], [first, ...rest] = pieces(inner);
        return [k || own < 0 ? m("mrow", prefix(own), first) : first, ...rest];
      });
      parts[0] = m("mrow", bracket("("), parts[0]);
      parts.push(m("mrow", parts.pop(), bracket(")")));
      return parts;
    }
    const at = t.op === "product" ? t.factors.findIndex((x) => x.op === "sum") : -1;
    if (at < 0) return [within(t, 1)];
    const parts = pieces(t.factors[at]), before = t.factors.slice(0, at), after = t.factors.slice(at + 1);
    if (before.length) parts[0] = m("mrow", product(before.map((x) => within(x, 1))), mo(TIMES), parts[0]);
    if (after.length) parts.push(m("mrow", parts.pop(), mo(TIMES), product(after.map((x) => within(x, 1)))));
    return parts;
  }

  const definitions = (where, side) => where.split("; ").map((line) => { const [a, b] = line.split(" = "); return m("mtr", m("mtd", side(a)), m("mtd", mo("=")), m("mtd", side(b))); });
  // The definitions of a formula's "where", as a table.
  kane.where = (text, symbols) => m("mtable", ...definitions(text, (x) => tree(kane.parse(x, symbols))));

  // A formula as text in MathML; text that is no formula is shown as it is.
  kane.formula = function (text, symbols) {
    const [main, where] = text.split(" where ");
    try {
      const [left, right] = main.split(" = ");
      const side = (x) => tree(kane.parse(x, symbols));
      const first = right === undefined ? side(left) : m("mrow", side(left), mo("="), side(right));
      if (!where) return first;
      return m("mtable", m("mtr", m("mtd"), m("mtd"), m("mtd", first)), ...definitions(where, side));
    } catch {
      return m("mtext", text);
    }
  };

  // A formula as signed terms, for lines that break; null for text that is no sum.
  kane.terms = function (text, symbols) {
    if (text.includes(" where ") || text.includes(" = ")) return null;
    let t;
    try { t = kane.parse(text, symbols); } catch { return null; }
    if (t.op !== "sum") return leaves(t) > LONG ? [t.op === "minus" ? [-1, pieces(t.of)] : [1, pieces(t)]] : null;
    return t.terms.map(([sign, x]) => (x.op === "minus" ? [-sign, pieces(x.of)] : [sign, pieces(x)]));
  };

  // A vector as signed terms: coefficients with bold basis vectors of frames.
  const BOLD = (c) => (/[a-z]/.test(c) ? String.fromCodePoint(0x1d41a + c.charCodeAt(0) - 97) : /[A-Z]/.test(c) ? String.fromCodePoint(0x1d400 + c.charCodeAt(0) - 65) : c);
  kane.basis = function (frame, axis) {
    const hat = (text) => {
      const over = accent(m("mi", text), "\u02c6");
      over.lastElementChild.setAttribute("stretchy", "false");
      return over;
    };
    if (/^[A-Za-z]{1,2}$/.test(frame)) return m("msub", hat([...frame.toLowerCase()].map(BOLD).join("")), mn(String(axis + 1)));
    return m("msub", hat(BOLD("xyz"[axis])), m("mi", frame));
  };
  kane.vector = function (parts, symbols) {
    return parts.map(([text, frame, axis]) => {
      let sign = 1, t;
      try { t = kane.parse(text, symbols); } catch { return [1, row(m("mtext", text), kane.basis(frame, axis))]; }
      if (t.op === "minus") { sign = -1; t = t.of; }
      const basis = kane.basis(frame, axis);
      if (t.op === "number" && t.text === "1") return [sign, basis];
      const gap = mo(TIMES);
      gap.setAttribute("lspace", "0.14em");
      const parts = pieces(t);
      parts.push(m("mrow", parts.pop(), gap, basis));
      return [sign, parts];
    });
  };
  // v_P, w_B, alpha_B, a_P, F*_1, with _r for a partial: Greek omega for w.
  kane.quantity = function (text, partial) {
    const [head, ...rest] = text.split("_");
    const tail = rest.join("_");
    const base = { w: "𝛚", alpha: "𝛂", v: "𝐯", a: "𝐚", r: "𝐫", c: "𝐜", d: "𝐝", g: "𝐠", I: "𝐈", R: "𝐑", T: "𝐓", f: "𝐅", m: "𝐌", W: "𝐖", G: "𝐆", L: "𝐋" }[head];
    if (!base || /^F/.test(text)) return kane.force(text);
    if (!rest.length) return m("mi", base);
    const node = m("mi", base), above = m("mi", tail);
    return partial ? m("msubsup", node, m("mi", "r"), above) : m("msup", node, above);
  };
  kane.force = function (text) {
    const found = text.match(/^F(\*?)_(\d+)$/);
    if (!found) return m("mtext", text);
    return found[1] ? m("msubsup", m("mi", "F"), mn(found[2]), mo("*")) : m("msub", m("mi", "F"), mn(found[2]));
  };
})(window.kane);
