"use strict";
// Tables of Kane's steps, typeset when a step is opened.
kane.part("steps", function (data) {
  const { el } = kane;
  const symbols = [...data.symbols].sort((a, b) => b.length - a.length);
  function cell(content, partial) {
    if (typeof content === "string") return content ? el("span", {}, el("bdi", { text: content })) : "";
    if (content.n !== undefined) return kane.math(kane.quantity(content.n, partial));
    if (content.v !== undefined) return formula(content.v.length ? kane.vector(content.v, symbols) : null, "0", "");
    if (content.l !== undefined) return el("span", {}, ...content.l.flatMap((x, k) => (k ? [", ", formula(null, x, "")] : [formula(null, x, "")])));
    return formula(kane.terms(content.f, symbols), content.f, content.f);
  }
  function formula(terms, text, source) {
    const parts = terms ? kane.wrapped(null, terms) : [kane.math(kane.formula(text, symbols))];
    return el("span", { class: "formula-line", "data-text": source || null }, ...parts);
  }
  document.querySelectorAll("details[data-step]").forEach((details) => {
    kane.whenOpened(details, () => {
      const table = data.tables[Number(details.dataset.step)];
      const body = table.rows.map((row) => el("tr", {}, ...row.map((x, k) => (k ? el("td", {}, cell(x)) : el("th", { scope: "row" }, cell(x))))));
      const heads = table.headers.some((x) => x) ? [el("thead", {}, el("tr", {}, ...table.headers.map((x) => (x ? el("th", { scope: "col" }, cell(x, true)) : el("td", {})))))] : [];
      details.querySelector(".scroll").append(el("table", { class: table.wide ? "steps wide" : "steps" }, ...heads, el("tbody", {}, ...body)));
    });
  });
});
