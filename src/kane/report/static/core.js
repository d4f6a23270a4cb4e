"use strict";
// What every part of the page uses: data, elements, parts built when they are opened, tabs, copying, the theme.
window.kane = { data: {}, parts: {} };
(function (kane) {
  for (const node of document.querySelectorAll("script[type='application/json'][data-part]"))
    kane.data[node.dataset.part] = JSON.parse(node.textContent);

  // An element: attributes, then children (strings become text, never markup).
  kane.el = function (tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "text") node.textContent = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((x) => x !== null && x !== undefined));
    return node;
  };

  kane.number = function (x, digits) {
    if (x === null || x === undefined || !isFinite(x)) return "–";
    const text = Number(x).toPrecision(digits || 6);
    const plain = String(Number(text));
    return plain.replace("-", "−");
  };

  // A part is set up from its data, and again when a served page gets it anew; what it listened to is dropped then.
  const setups = new Map(), listening = { theme: [], move: [], print: [], drop: [] };
  let owner = null;
  const owned = (name, f) => (...args) => { const before = owner; owner = name; try { return f(...args); } finally { owner = before; } };
  kane.part = function (name, setup) {
    setups.set(name, [...(setups.get(name) || []), setup]);
    if (kane.data[name]) owned(name, setup)(kane.data[name]);
  };
  kane.on = (what, f) => listening[what].push([owner, f]);
  kane.tell = (what, ...args) => listening[what].forEach(([, f]) => f(...args));
  kane.onTheme = (f) => kane.on("theme", f);
  kane.onMove = (f) => kane.on("move", f);
  function drop(name) {
    listening.drop.forEach(([own, f]) => own === name && f());
    for (const what of Object.keys(listening)) listening[what] = listening[what].filter(([own]) => own !== name);
  }

  // What takes long (the 3-D view, the explicit model) is built after the page is there, one part at a time.
  const waiting = [], idle = [];
  let timer = null, loaded = false;
  kane.ready = new Promise((resolve) => idle.push(resolve));
  kane.settled = () => new Promise((resolve) => { idle.push(resolve); start(); });
  kane.later = (build) => { waiting.push(owned(owner, build)); start(); };
  kane.finish = () => { while (waiting.length) waiting.shift()(); };
  function start() { if (loaded && timer === null) timer = setTimeout(next, 30); }
  function next() {
    timer = null;
    if (waiting.length) waiting.shift()();
    if (waiting.length) start(); else idle.splice(0).forEach((f) => f());
  }
  addEventListener("load", () => { loaded = true; start(); });

  // Long parts are built when they are first opened.
  const builders = new Map();
  kane.whenOpened = function (details, build) {
    builders.set(details, build);
    if (details.open) kane.open(details);
    else details.addEventListener("toggle", () => details.open && kane.open(details), { once: true });
  };
  kane.open = function (details) {
    const build = builders.get(details);
    builders.delete(details);
    if (build) build(details);
  };
  function fold(root) {
    for (const details of root.querySelectorAll("details")) {
      const template = details.querySelector(":scope > template");
      if (template)
        kane.whenOpened(details, () => {
          details.append(template.content.cloneNode(true));
          wire(details);
        });
    }
  }

  function copyable(button) {
    button.addEventListener("click", async () => {
      const source = button.closest(".file").querySelector("code");
      let done = true;
      try {
        await navigator.clipboard.writeText(source.textContent);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(source);
        const selection = getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        try { done = document.execCommand("copy"); } catch { done = false; }
        if (done) selection.removeAllRanges();
      }
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }

  // Tabs after the pattern of the ARIA practices: arrows move, one tab stop.
  function tabs(list) {
    const all = [...list.querySelectorAll("[role=tab]")];
    const choose = (tab, focus) => {
      for (const other of all) {
        const on = other === tab;
        other.setAttribute("aria-selected", on);
        other.tabIndex = on ? 0 : -1;
        document.getElementById(other.getAttribute("aria-controls")).hidden = true;
      }
      const panel = document.getElementById(tab.getAttribute("aria-controls")); // several tabs may have one panel
      panel.hidden = false;
      panel.setAttribute("aria-labelledby", tab.id);
      if (focus) tab.focus();
      list.dispatchEvent(new CustomEvent("choose", { detail: tab }));
    };
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) choose(tab, false);
    });
    list.addEventListener("keydown", (event) => {
      const at = all.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      choose(all[(to + all.length) % all.length], true);
    });
  }
  kane.tabs = tabs;

  function wire(root) {
    root.querySelectorAll("button.copy").forEach(copyable);
    root.querySelectorAll("[role=tablist]").forEach(tabs);
  }
  fold(document);
  wire(document);

  // Another content of a part; what was opened and chosen in it stays so.
  kane.replace = function ({ id, title, html, data }) {
    const section = document.getElementById(id), heading = section.querySelector("h2");
    const word = (details) => details.querySelector("summary").firstChild.textContent.trim();
    const opened = new Set([...section.querySelectorAll("details[open]")].map(word));
    const chosen = [...section.querySelectorAll("[role=tab][aria-selected=true]")].map((tab) => tab.id);
    drop(id);
    delete kane.data[id];
    const box = document.createElement("template");
    box.innerHTML = html; // made by our own templates, which escape names; scripts in it would not run
    heading.textContent = title;
    section.replaceChildren(heading, box.content);
    fold(section);
    wire(section);
    if (data) {
      kane.data[id] = data;
      for (const setup of setups.get(id) || []) owned(id, setup)(data);
    }
    for (const details of section.querySelectorAll("details"))
      if (opened.has(word(details)) && !details.open) { details.open = true; kane.open(details); }
    for (const tab of chosen) document.getElementById(tab)?.click();
    section.removeAttribute("aria-busy");
  };

  // Theme: the system's until a choice is made.
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  kane.color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  kane.setTheme = function (theme) {
    root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
    try { localStorage.setItem("kane-theme", theme); } catch { /* pages from disk may have no storage */ }
    kane.tell("theme");
  };
  let stored = null;
  try { stored = localStorage.getItem("kane-theme"); } catch { /* see above */ }
  button.hidden = false;
  kane.setTheme(themes.includes(stored) ? stored : "auto");
  button.addEventListener("click", () => kane.setTheme(themes[(themes.indexOf(root.dataset.theme) + 1) % 3]));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => kane.tell("theme"));

  // On paper everything is unfolded that was opened, and what is short.
  const opened = [];
  let shown = "auto";
  addEventListener("beforeprint", () => {
    kane.finish();
    kane.tell("print", true);
    shown = root.dataset.theme;
    root.dataset.theme = "light"; // curves and maps are drawn for white paper
    kane.tell("theme");
    for (const details of document.querySelectorAll("details:not([open])"))
      if (!details.classList.contains("long")) { details.open = true; kane.open(details); opened.push(details); }
  });
  addEventListener("afterprint", () => {
    kane.tell("print", false);
    opened.splice(0).forEach((details) => (details.open = false));
    root.dataset.theme = shown;
    kane.tell("theme");
  });

  // The link of the part in view is marked in the contents.
  const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((a) => [a.getAttribute("href").slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        links.forEach((a) => a.removeAttribute("aria-current"));
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
})(window.kane);
