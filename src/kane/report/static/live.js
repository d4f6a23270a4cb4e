"use strict";
// A served page: for another robot or another value its parts are asked of the server anew, the quick ones first.
(function (kane) {
  const data = kane.data.live;
  if (!data) return;
  const { el } = kane;
  const select = document.getElementById("live-robot"), note = document.getElementById("live-note");
  const holder = document.getElementById("live-parameters"), section = document.getElementById("live");
  let robot = data.robot, changes = new Map(), stop = new AbortController();
  for (const [name, value] of new URLSearchParams(location.search)) if (name.startsWith("p.")) changes.set(name.slice(2), value);
  data.robots.forEach((name) => select.append(el("option", { value: name, text: name, selected: name === robot })));

  const query = () => new URLSearchParams([["robot", robot], ...[...changes].map(([name, value]) => ["p." + name, value])]);
  async function ask(parts, more, signal) {
    const asked = new URLSearchParams([["of", parts.join(",")], ...(more || []), ...query()]);
    const answer = await fetch(location.pathname.replace(/\/?$/, "/parts?") + asked, { signal, cache: "no-store", credentials: "omit" });
    const made = await answer.json();
    if (!answer.ok) throw new Error(made.error);
    return made;
  }
  function put(made) {
    for (const part of made.parts) {
      if (!document.getElementById(part.id)) continue;
      const before = part.id === "scene" && kane.data.scene?.name === part.data?.name ? kane.coordinates() : null;
      kane.replace(part);
      if (before) kane.setCoordinates(before, null);
    }
  }

  // The slow parts, one after another, while the page is used; a change stops them.
  async function rest(signal, all) {
    for (const id of all ? data.later : data.later.filter((x) => !["equations", "robot,scene"].includes(x))) { // the page came with those
      const made = await ask([id], [["more", "1"]], signal);
      if (signal.aborted) return;
      put(made);
      await kane.settled();
    }
    note.textContent = "All parts are up to date.";
    document.body.dataset.live = "done";
  }
  async function refresh(other) {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    const start = performance.now();
    document.body.dataset.live = "busy";
    note.textContent = "Computing…";
    [...data.first, ...data.later].flatMap((ids) => ids.split(",")).forEach((id) => document.getElementById(id)?.setAttribute("aria-busy", "true"));
    try {
      const made = await ask(data.first, [], signal);
      if (signal.aborted) return;
      put(made);
      document.querySelector("h1 bdi").textContent = made.name;
      document.querySelector(".lead").textContent = made.lead;
      document.title = made.title;
      history.replaceState(null, "", location.pathname + "?" + query());
      if (other) fields(made.parameters);
      await kane.settled();
      note.textContent = `Computed in ${((performance.now() - start) / 1000).toFixed(2)} s; the other parts follow.`;
      document.body.dataset.live = "first";
      await rest(signal, true);
    } catch (error) {
      if (signal.aborted) return;
      note.textContent = error.message;
      document.body.dataset.live = "failed";
    }
  }

  select.addEventListener("change", () => { robot = select.value; changes = new Map(); refresh(true); });
  document.getElementById("live-reset").addEventListener("click", () => { changes = new Map(); refresh(true); });
  function fields(parameters) {
    holder.replaceChildren(...parameters.map(([name, value], k) => {
      const id = "p-" + k;
      const input = el("input", {
        type: "text", inputmode: "decimal", id, value: changes.get(name) ?? String(value), autocomplete: "off", size: 12,
        onchange: () => {
          const text = input.value.trim();
          if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?$/i.test(text)) {
            input.setAttribute("aria-invalid", "true");
            note.textContent = `“${text}” is no number.`;
            return;
          }
          input.removeAttribute("aria-invalid");
          changes.set(name, text);
          refresh(false);
        },
      });
      return el("label", { for: id }, el("bdi", { text: name }), input);
    }));
    section.querySelector(".count").textContent = parameters.length;
  }
  fields(data.parameters);

  // Abbreviated levels take seconds: only when asked for.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("#work-out-levels");
    if (!button) return;
    const { signal } = stop;
    button.disabled = true;
    button.textContent = "Working out…";
    try {
      const made = await ask(["explicit", "counts"], [["levels", "1"], ["more", "1"]], signal);
      if (!signal.aborted) put(made);
    } catch (error) {
      if (!signal.aborted) button.textContent = error.message;
    }
  });
  kane.ready.then(() => rest(stop.signal, false)).catch((error) => { note.textContent = error.message; });
})(window.kane);
