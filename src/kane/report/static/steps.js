"use strict";
// Tables of Kane's steps, typeset when a step is opened.
kane.part("steps", function (data) {
  const { el } = kane;
  const symbols = [...data.symbols].sort((a, b) => b.length - a.length);
  function cell(content, partial) {
    if (typeof content === "string") return content ? el("span", {}, el("bdi", { text: content })) : "";
    if (content.b !== undefined) return el("bdi", { text: content.b });
    if (content.t !== undefined) return equation(content);
    if (content.n !== undefined) return kane.math(kane.quantity(content.n, partial));
    if (content.v !== undefined) return formula(content.v.length ? kane.vector(content.v, symbols) : null, "0", "");
    if (content.l !== undefined) return el("span", { class: "terms" }, ...content.l.flatMap((x, k) => [k ? " " : "", el("span", {}, formula(null, x, ""), k < content.l.length - 1 ? "," : "")]));
    return formula(kane.terms(content.f, symbols), content.f, content.f);
  }
  // An equation between vectors: products of quantities, basis vectors and numbers.
  const SIGNS = { x: "×", ".": "·", "(": "(", ")": ")" };
  function factor(x) {
    if (typeof x === "string") return kane.m("mo", SIGNS[x]);
    if (x.q !== undefined) return kane.quantity(x.q, false);
    if (x.s !== undefined) return kane.force(x.s);
    if (x.f !== undefined) return kane.formula(x.f, symbols);
    const sum = kane.sum(kane.vector(x.v, symbols));
    return x.v.length > 1 ? kane.m("mrow", kane.m("mo", "("), sum, kane.m("mo", ")")) : sum;
  }
  function equation({ l, t, is }) {
    const bare = ([, factors]) => (factors.length === 1 && factors[0].v && t.length === 1 ? kane.vector(factors[0].v, symbols) : null);
    const product = (factors) => kane.m("mrow", ...factors.flatMap((x, k) => {
      const before = factors[k - 1];
      return k && typeof x !== "string" && typeof before !== "string" ? [kane.m("mo", "\u2062"), factor(x)] : [factor(x)];
    }));
    const terms = t.length ? bare(t[0]) || t.map(([sign, factors]) => [sign, product(factors)]) : [[1, kane.m("mn", "0")]];
    const left = l === null ? null : factor(l);
    const end = is === undefined ? [] : [" ", kane.math(kane.m("mrow", kane.m("mo", "="), kane.m("mn", is)))];
    return el("span", { class: "formula-line", "data-equation": true }, ...kane.wrapped(left, terms), ...end);
  }
  const plain = (head) => (head.n || "").replace(/^w_/, "ω ").replace(/^v_/, "v ") + ": ";
  function formula(terms, text, source) {
    const at = text.indexOf(" where ");
    if (at > 0) { // a long formula breaks; what it is made of follows in a table
      const main = text.slice(0, at), first = formula(kane.terms(main, symbols), main, "");
      return el("div", {}, first, kane.math(kane.where(text.slice(at + 7), symbols)));
    }
    const parts = terms ? kane.wrapped(null, terms) : sides(text) || [kane.math(kane.formula(text, symbols))];
    return el("span", { class: parts.length > 1 ? "formula-line several" : "formula-line", "data-text": source || null }, ...parts);
  }
  // An equation whose longer side breaks; null where there is nothing to break.
  function sides(text) {
    const [left, right] = text.split(" = ");
    if (right === undefined) return null;
    const a = kane.terms(left, symbols), b = kane.terms(right, symbols);
    if (!a && !b) return null;
    const plain = (x) => kane.formula(x, symbols);
    if (b) return kane.wrapped(plain(left), b);
    const end = kane.math(kane.m("mrow", kane.m("mo", "="), plain(right)));
    return [...kane.wrapped(null, a), " ", end];
  }
  document.querySelectorAll("details[data-step]").forEach((details) => {
    kane.whenOpened(details, () => {
      const table = data.tables[Number(details.dataset.step)];
      const body = table.rows.map((row) => el("tr", {}, ...row.map((x, k) => (k ? el("td", { "data-head": table.wide ? plain(table.headers[k]) : null }, cell(x)) : el("th", { scope: "row" }, cell(x))))));
      const heads = table.headers.some((x) => x) ? [el("thead", {}, el("tr", {}, ...table.headers.map((x) => (x ? el("th", { scope: "col" }, cell(x, true)) : el("td", {})))))] : [];
      details.querySelector(".scroll").append(el("table", { class: "steps" + (table.wide ? " wide" : table.headers.length > 3 ? " even" : "") }, ...heads, el("tbody", {}, ...body)));
    });
  });
});
