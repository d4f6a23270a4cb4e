"use strict";
// A served page: another robot or another value is asked of the server, which answers with a new page.
(function (kane) {
  const data = kane.data.live;
  if (!data) return;
  const { el } = kane;
  const query = new URLSearchParams(location.search);
  const select = document.getElementById("live-robot"), note = document.getElementById("live-note");
  data.robots.forEach((name) => select.append(el("option", { value: name, text: name, selected: name === data.robot })));
  function go(parameters) {
    const open = [...document.querySelectorAll("details")].map((d) => d.open);
    try { sessionStorage.setItem("kane-place", JSON.stringify({ y: scrollY, robot: select.value, open })); } catch { /* no storage */ }
    note.textContent = "Computing…";
    location.assign(location.pathname + (parameters.size ? "?" + parameters : ""));
  }
  select.addEventListener("change", () => go(new URLSearchParams({ robot: select.value })));
  document.getElementById("live-reset").addEventListener("click", () => go(new URLSearchParams({ robot: data.robot })));
  const holder = document.getElementById("live-parameters");
  data.parameters.forEach(([name, value], k) => {
    const id = "p-" + k;
    const input = el("input", {
      type: "text", inputmode: "decimal", id, value: query.get("p." + name) ?? String(value), autocomplete: "off", size: 12,
      onchange: () => {
        if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?$/i.test(input.value.trim())) {
          input.setAttribute("aria-invalid", "true");
          note.textContent = `“${input.value}” is no number.`;
          return;
        }
        query.set("robot", data.robot);
        query.set("p." + name, input.value.trim());
        go(query);
      },
    });
    holder.append(el("label", { for: id }, el("bdi", { text: name }), input));
  });
  let place = null;
  try {
    place = JSON.parse(sessionStorage.getItem("kane-place") || "null");
    sessionStorage.removeItem("kane-place");
  } catch { /* no storage */ }
  if (place && place.robot === data.robot) {
    const all = [...document.querySelectorAll("details")];
    if (all.length === place.open.length) all.forEach((d, k) => { if (place.open[k] && !d.open) { d.open = true; kane.open(d); } });
    kane.ready.then(() => scrollTo({ top: place.y, behavior: "instant" }));
  }
})(window.kane);
