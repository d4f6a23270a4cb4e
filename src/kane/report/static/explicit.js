"use strict";
// The explicit model: elements, constants, significance, abbreviated levels, maps over the workspace.
kane.part("explicit", function (data) {
  const holder = document.getElementById("elements");
  const { el, m } = kane;
  const names = data.names.slice().sort((a, b) => b.length - a.length);
  let level = 0, matrix = "A", chosen = null, mode = "equations";

  // Typesetting
  const mo = (text) => m("mo", text), mn = (text) => m("mn", text);
  function angle(index) {
    const parts = data.angles[index].map((k, i) => [k, i]).filter(([k]) => k);
    const terms = parts.map(([k, i]) => {
      const name = kane.name(data.symbols[i]);
      return [Math.sign(k), Math.abs(k) === 1 ? name : kane.product([mn(String(Math.abs(k))), name])];
    });
    return terms.length === 1 && terms[0][0] > 0 ? terms[0][1] : kane.sum(terms);
  }
  function factor([index, cos, sin]) {
    const raised = (node, power) => (power === 1 ? node : m("msup", node, mn(String(power))));
    if (sin < 0) return [raised(angle(index), cos)];
    const call = (name, power) => {
      const plain = data.angles[index].filter((k) => k).length === 1 && data.angles[index].every((k) => k === 0 || k === 1);
      return kane.call(raised(m("mi", name), power), angle(index), plain);
    };
    return [...(cos ? [call("cos", cos)] : []), ...(sin ? [call("sin", sin)] : [])];
  }
  function constant(index) {
    const c = data.constants[index], node = kane.name(c.name);
    node.classList.add("constant");
    node.dataset.constant = index;
    return node;
  }
  function term([numerator, denominator, index, factors]) {
    const size = Math.abs(numerator);
    const ratio = denominator !== 1 ? [m("mfrac", mn(String(size)), mn(String(denominator)))] : size !== 1 ? [mn(String(size))] : [];
    return [Math.sign(numerator), kane.product([...ratio, constant(index), ...factors.flatMap(factor)])];
  }

  // Values
  const wave = (q, index) => data.angles[index].reduce((s, k, i) => s + k * q[i], 0);
  function value(terms, q) {
    let total = 0;
    for (const [a, b, c, factors] of terms) {
      let x = (a / b) * data.constants[c].value;
      for (const [index, cos, sin] of factors) {
        const w = wave(q, index);
        x *= sin < 0 ? w ** cos : Math.cos(w) ** cos * Math.sin(w) ** sin;
      }
      total += x;
    }
    return total;
  }
  const at = (l, name, i, j) => l.elements.find(([n, a, b]) => n === name && a === i && b === j)?.[3]
    || (name === "A" && j < i ? at(l, name, j, i) : []) || [];
  const sub = (i, j, comma) => (j === undefined ? mn(String(i)) : m("mrow", mn(String(i)), ...(comma ? [mo(",")] : []), mn(String(j))));
  function label(name, i, j) {
    if (name === "g") return m("msub", m("mi", "g"), sub(i + 1));
    if (name === "B") { const [a, b] = data.columns[j]; return m("msub", m("mi", "b"), m("mrow", mn(String(i + 1)), mo(","), mn(String(a + 1)), mn(String(b + 1)))); }
    return m("msub", m("mi", name.toLowerCase()), sub(i + 1, j + 1, data.coordinates.length > 9));
  }
  function plainLabel(name, i, j) {
    if (name === "g") return "g" + (i + 1);
    if (name === "B") return "b" + (i + 1) + "," + data.columns[j].map((k) => k + 1).join("");
    return name.toLowerCase() + (i + 1) + (data.coordinates.length > 9 ? "," : "") + (j + 1);
  }
  // Elements of the matrix shown
  function shares(name, i, j) { return data.significance[name + "," + i + "," + j]; }
  function rowsOf(which) {
    return data.levels[level].elements.filter(([name]) => name === which).map(([name, i, j, terms]) => {
      const parts = [el("div", { class: "formula-line", "data-element": plainLabel(name, i, j) }, ...kane.wrapped(label(name, i, j), terms.map(term)))];
      const found = level === 0 && shares(name, i, j);
      if (found && mode === "significance") parts.push(bars(terms, found));
      return el("li", {}, ...parts);
    });
  }
  function showElements() {
    const now = data.levels[level], exact = data.levels[0];
    const shown = now.elements.filter(([name]) => name === matrix);
    const rows = rowsOf(matrix);
    const before = exact.elements.filter(([name]) => name === matrix);
    const terms = (list) => list.reduce((n, x) => n + x[3].length, 0);
    const gone = before.length - shown.length;
    const text = level === 0
      ? `${before.length} elements that are not zero, ${terms(before)} terms.`
      : `${shown.length} of ${before.length} elements, ${terms(shown)} of ${terms(before)} terms${gone ? "; the others are dropped" : ""}.`;
    document.getElementById("elements-note").textContent = text;
    holder.replaceChildren(...rows);
    if (!rows.length) holder.append(el("li", { text: "All elements are zero." }));
    mark();
  }
  // On paper all four matrices are shown one after another.
  kane.on("print", (on) => {
    if (!on) { showElements(); return; }
    holder.replaceChildren(...["A", "B", "C", "g"].flatMap((name) => [el("li", { class: "heading" }, el("strong", { text: document.getElementById("matrix-" + name).textContent })), ...rowsOf(name)]));
  });
  // Shares of terms run over many decades: the bar is logarithmic, from 1e-6 to 1.
  function bars(terms, found) {
    const order = terms.map((t, k) => [t, found[k]]).filter(([, s]) => s).sort((a, b) => b[1][0] - a[1][0]);
    return el("ul", { class: "bars" }, ...order.map(([t, [share, greatest]]) => {
      const [sign, node] = term(t);
      const wide = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(share || 0, 1e-6)) / 6));
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--size", wide);
      return el("li", {}, el("span", { class: "formula-line" }, kane.math(kane.sum([[sign, node]]))), bar,
        el("span", { class: "value", text: `${kane.number(100 * share, 3)} %, up to ${kane.number(greatest, 3)}` }));
    }));
  }

  // Constants
  const list = document.getElementById("constants");
  const uses = data.constants.map(() => []);
  for (const [name, i, j, terms] of data.levels[0].elements)
    for (const t of terms) if (uses[t[2]].at(-1) !== plainLabel(name, i, j)) uses[t[2]].push(plainLabel(name, i, j));
  const inside = data.constants.map((c) => data.constants.filter((o) => o.parts.some(([n]) => n === c.name)).map((o) => o.name));
  const buttons = data.constants.map((c, k) => {
    const button = el("button", { type: "button", class: "constant-row", "aria-pressed": "false", "data-constant": k, onclick: () => pick(chosen === k ? null : k) },
      kane.math(kane.name(c.name)), el("span", { class: "value", text: kane.number(c.value, 6) }));
    list.append(el("li", {}, button));
    return button;
  });
  const card = document.getElementById("constant-card");
  function pick(index) {
    chosen = index;
    buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(k === index)));
    mark();
    describe(index);
  }
  function describe(index) {
    if (index === null) { card.replaceChildren(el("p", { class: "note", text: "Point at or choose a constant to see its formula, value, where it occurs and which bodies it comes from." })); return; }
    const c = data.constants[index];
    const kind = { inertia: "inertia", gravity: "gravity", rotor: "rotor inertia" }[c.kind];
    const unit = c.kind === "gravity" ? "N m" : "kg m²";
    card.replaceChildren(
      el("div", { class: "formula-line" }, ...written(c)),
      el("dl", {},
        el("dt", { text: "Value" }), el("dd", { text: c.value === null ? "known at run time" : `${kane.number(c.value, 9)} ${unit} (${kind})` }),
        el("dt", { text: "Comes from" }), el("dd", {}, ...(c.links.length ? c.links.flatMap((x, k) => (k ? [", ", el("bdi", { text: x })] : [el("bdi", { text: x })])) : ["–"])),
        el("dt", { text: "Occurs in" }), el("dd", { text: uses[index].join(" ") || (inside[index].length ? "constants " + inside[index].join(", ") : "–") }),
        ...(inside[index].length && uses[index].length ? [el("dt", { text: "Part of" }), el("dd", { text: inside[index].join(", ") })] : [])));
  }
  function written(c) {
    const symbols = c.parts.length ? [] : names, terms = kane.terms(c.formula, symbols);
    return terms ? kane.wrapped(kane.name(c.name), terms) : [kane.math(m("mrow", kane.name(c.name), mo("="), kane.formula(c.formula, symbols)))];
  }
  const highlight = (index) => document.querySelectorAll("#explicit .constant").forEach((x) => x.classList.toggle("lit", index !== null && Number(x.dataset.constant) === index));
  const mark = () => highlight(chosen);
  const section = document.getElementById("explicit");
  const constantAt = (event) => event.target.closest?.("[data-constant]");
  const gone = new AbortController(), signal = { signal: gone.signal };
  kane.on("drop", () => gone.abort());
  section.addEventListener("pointerover", (event) => { const c = constantAt(event); if (c) { highlight(Number(c.dataset.constant)); describe(Number(c.dataset.constant)); } }, signal);
  section.addEventListener("pointerout", (event) => { if (constantAt(event)) { mark(); describe(chosen); } }, signal);
  section.addEventListener("focusin", (event) => { const c = constantAt(event); if (c) { highlight(Number(c.dataset.constant)); describe(Number(c.dataset.constant)); } }, signal);
  section.addEventListener("click", (event) => { const c = constantAt(event); if (c && !c.closest("button")) pick(chosen === Number(c.dataset.constant) ? null : Number(c.dataset.constant)); }, signal);

  // Levels
  const slider = document.getElementById("level");
  function showLevel() {
    const now = data.levels[level], exact = data.levels[0].counts;
    const title = now.rule === "exact" ? "exact" : `${kane.number(100 * now.tolerance, 3)} % (${now.rule === "certified" ? "certified" : "the paper's rule"})`;
    if (!now.counts) { // a live page leaves them open
      document.getElementById("level-title").textContent = "exact";
      showElements();
      return;
    }
    const count = `${now.counts.total} operations (${now.counts.mul} mul, ${now.counts.add} add)`;
    document.getElementById("level-title").textContent = `${title}: ${count}`;
    if (slider) slider.setAttribute("aria-valuetext", `${title}, ${count}`);
    document.getElementById("counts-bar").style.setProperty("--size", now.counts.total / exact.total);
    const table = document.getElementById("certificates");
    if (table) {
      table.hidden = !now.certificates.length;
      table.querySelector("tbody").replaceChildren(...now.certificates.map((c) => el("tr", {},
        el("th", { scope: "row" }, el("bdi", { text: c.joint })), el("td", { text: kane.number(c.bound, 4) }), el("td", { text: kane.number(c.reference, 4) }),
        el("td", { class: "line", text: kane.number(100 * c.share, 3) + " %" }), el("td", { class: "line", text: c.ranges }))));
    }
    showElements();
  }
  kane.setLevel = (k) => { level = k; if (slider) slider.value = k; showLevel(); };
  if (slider) slider.addEventListener("input", () => { level = Number(slider.value); showLevel(); });

  document.getElementById("matrices").addEventListener("choose", (event) => { matrix = event.detail.dataset.matrix; showElements(); mapChoices(); });
  for (const box of document.getElementsByName("elements-mode"))
    box.addEventListener("change", () => { mode = box.value; showElements(); });

  // Maps over two coordinates
  const element = document.getElementById("map-element"), xs = document.getElementById("map-x"), ys = document.getElementById("map-y");
  const what = document.getElementById("map-what");
  function mapChoices() {
    const cells = data.levels[0].elements.filter(([name]) => name === matrix);
    element.replaceChildren(...cells.map(([name, i, j]) => el("option", { value: `${name},${i},${j}`, text: plainLabel(name, i, j) })));
    const terms = cells[0];
    if (terms) pickAxes();
    termChoices();
  }
  function current() {
    const [name, i, j] = element.value.split(",");
    return element.value ? at(data.levels[0], name, Number(i), Number(j)) : [];
  }
  // The two coordinates that the element depends on first.
  function pickAxes() {
    const used = data.coordinates.map((_, k) => k).filter((k) => current().some((t) => t[3].some(([a]) => data.angles[a][k])));
    const rest = data.coordinates.map((_, k) => k).filter((k) => !used.includes(k));
    const [x, y] = [...used, ...rest];
    xs.value = x;
    ys.value = y ?? x;
  }
  function termChoices() {
    const options = [el("option", { value: "whole", text: "value of the element" })];
    current().forEach((t, k) => options.push(el("option", { value: String(k), text: `share of the term with ${data.constants[t[2]].name} (${k + 1})` })));
    what.replaceChildren(...options);
    drawMap();
  }
  data.coordinates.forEach((name, k) => [xs, ys].forEach((s) => s.append(el("option", { value: k, text: name }))));
  const canvas = document.getElementById("map");
  function drawMap() {
    const terms = current();
    if (!terms.length || data.constants.some((c) => c.value === null)) return;
    const x = Number(xs.value), y = Number(ys.value), N = 72;
    const q = data.coordinates.map((name) => kane.coordinates?.()[name] ?? 0);
    const low = data.ranges.lower, high = data.ranges.upper, cells = [];
    for (let b = 0; b < N; b++)
      for (let a = 0; a < N; a++) {
        q[y] = low[y] + ((high[y] - low[y]) * (b + 0.5)) / N;
        q[x] = low[x] + ((high[x] - low[x]) * (a + 0.5)) / N;
        if (what.value === "whole" || !what.value) cells.push(value(terms, q));
        else {
          const parts = terms.map((t) => Math.abs(value([t], q))), whole = parts.reduce((s, v) => s + v, 0);
          cells.push(whole ? parts[Number(what.value)] / whole : 0);
        }
      }
    const side = (k) => ({ name: data.coordinates[k], low: low[k], high: high[k] });
    kane.heat(canvas, cells, N, N, side(x), side(y));
    const least = Math.min(...cells), most = Math.max(...cells);
    const text = `from ${kane.number(least, 4)} to ${kane.number(most, 4)}`;
    document.getElementById("map-range").textContent = `${text}; ${data.coordinates[x]} to the right, ${data.coordinates[y]} upwards, over their ranges; the other coordinates as in the view.`;
    canvas.setAttribute("aria-label", `Heat map of ${element.selectedOptions[0]?.text}, ${text}`);
  }
  element.addEventListener("change", () => { pickAxes(); termChoices(); });
  [xs, ys, what].forEach((s) => s.addEventListener("change", drawMap));
  kane.onTheme(drawMap);
  kane.onMove(() => { clearTimeout(kane.mapTimer); kane.mapTimer = setTimeout(drawMap, 200); });

  kane.explicit = {
    levels: data.levels.length,
    counts: () => data.levels[level].counts,
    tolerance: () => data.levels[level].tolerance,
    value: (name, i, j, q) => value(at(data.levels[level], name, i, j), q),
    shown: () => [...holder.querySelectorAll("[data-element]")].map((x) => x.dataset.element),
  };
  kane.later(() => {
    describe(null);
    showLevel();
    mapChoices();
  });
});
