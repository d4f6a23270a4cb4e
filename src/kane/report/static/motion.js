"use strict";
// Curves over time, playback of motions in the 3-D view, and poles in the plane.
(function (kane) {
  const { el } = kane;
  const COLOURS = { light: ["#0b5cad", "#b3541e", "#2d7d46", "#8a3ea8", "#a3123a", "#222833", "#0f7c86", "#7a6a00"], dark: ["#86bdf7", "#f2a66b", "#7fd49b", "#d59bf0", "#ff8fa8", "#e6e9ef", "#5fd0da", "#d8c44a"] };
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], []];
  const dark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
  const colour = (k) => COLOURS[dark() ? "dark" : "light"][k % 8];

  // Room above and below; a curve that stays where it is lies in the middle.
  function padded(u, low, high) {
    if (low === null) return [-1, 1];
    const span = high - low, size = Math.max(Math.abs(low), Math.abs(high));
    const room = span > 1e-9 * size && span > 0 ? 0.08 * span : size ? 0.1 * size : 1;
    return [low - room, high + room];
  }
  function plot(holder, recording, spec, onCursor) {
    let choice = 0, chart = null;
    const select = spec.choices.length > 1
      ? el("select", { onchange: () => { choice = select.selectedIndex; draw(); } }, ...spec.choices.map((c) => el("option", { text: c.label })))
      : null;
    const space = el("div", { class: "plot" }), legend = el("ul", { class: "legend" });
    const title = el("figcaption", {}, spec.title, ...(select ? [" ", el("label", {}, "of ", select)] : []), spec.unit ? ` (${spec.unit})` : "");
    holder.append(el("figure", {}, title, space, legend));
    function draw() {
      const { series } = spec.choices[choice];
      if (chart) chart.destroy();
      legend.replaceChildren();
      const axis = { stroke: kane.color("quiet"), grid: { stroke: kane.color("line"), width: 1 }, ticks: { stroke: kane.color("line") } };
      const wide = Math.max(space.clientWidth, 200);
      chart = new uPlotModule.default({
        width: wide, height: 260, scales: { x: { time: false }, y: { range: padded } }, pxAlign: 0, legend: { show: false }, cursor: { y: false },
        axes: [{ ...axis, label: "t, s", size: 30, labelSize: 20, labelGap: 0 }, { ...axis, size: 64, values: (u, ticks) => ticks.map((x) => kane.number(x, 4)) }],
        series: [{}, ...series.map(([name], k) => ({ label: name, stroke: colour(k), width: name === "total" ? 2.4 : 1.6, dash: name === "total" ? [] : DASHES[k % 6] }))],
        hooks: { setCursor: [(u) => u.cursor.idx !== null && u.cursor.left >= 0 && onCursor(u.cursor.idx)] },
      }, [recording.t, ...series.map((s) => s[1])], space);
      const canvas = space.querySelector("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${spec.title}${select ? " of " + spec.choices[choice].label : ""} over time`);
      series.forEach(([name, values], k) => {
        const known = values.filter((x) => x !== null);
        const swatch = el("i", { "aria-hidden": "true" });
        swatch.style.borderTop = `3px ${name === "total" || k % 6 === 0 || k % 6 === 5 ? "solid" : k % 2 ? "dashed" : "dotted"} ${colour(k)}`;
        legend.append(el("li", {}, swatch, el("bdi", { text: name }), el("span", { class: "value", text: ` ${kane.number(Math.min(...known), 3)} … ${kane.number(Math.max(...known), 3)}` })));
      });
    }
    draw();
    kane.onTheme(draw);
    let width = space.clientWidth;
    const resized = new ResizeObserver(() => {
      if (Math.abs(space.clientWidth - width) < 4) return;
      width = space.clientWidth;
      chart.setSize({ width: Math.max(width, 200), height: 260 });
    });
    resized.observe(space);
    kane.on("drop", () => { resized.disconnect(); chart.destroy(); });
  }

  function record(data, holder) {
    const recording = data.recordings[Number(holder.dataset.recording)];
    const slider = holder.querySelector(".time"), button = holder.querySelector(".play"), output = holder.querySelector("output");
    const last = recording.t.length - 1;
    let timer = null;
    function at(k) {
      slider.value = k;
      output.textContent = recording.t[k].toFixed(2) + " s";
      slider.setAttribute("aria-valuetext", output.textContent);
      const values = {};
      recording.names.forEach((name, i) => { if (recording.q[i][k] !== null) values[name] = recording.q[i][k]; });
      kane.setCoordinates?.(values, null);
    }
    function stop() {
      cancelAnimationFrame(timer);
      timer = null;
      button.textContent = "Play in 3-D";
      button.setAttribute("aria-pressed", "false");
    }
    button.addEventListener("click", () => {
      if (timer !== null) { stop(); return; }
      let k = Number(slider.value) >= last ? 0 : Number(slider.value);
      const start = performance.now() - 1000 * (recording.t[k] - recording.t[0]);
      button.textContent = "Pause";
      button.setAttribute("aria-pressed", "true");
      const tick = () => {
        const t = recording.t[0] + (performance.now() - start) / 1000;
        while (k < last && recording.t[k + 1] <= t) k++;
        at(k);
        if (k >= last) stop(); else timer = requestAnimationFrame(tick);
      };
      timer = requestAnimationFrame(tick);
    });
    slider.addEventListener("input", () => { stop(); at(Number(slider.value)); });
    output.textContent = recording.t[0].toFixed(2) + " s";
    slider.setAttribute("aria-valuetext", output.textContent);
    const curves = holder.querySelector(".curves");
    recording.plots.forEach((spec) => plot(curves, recording, spec, () => {}));
    kane.on("drop", stop);
    holder.kaneAt = at;
  }
  kane.part("motion", (data) =>
    document.querySelectorAll(".recording").forEach((holder) => kane.later(() => record(data, holder))));

  kane.part("poles", function (poles) {
    const plane = document.getElementById("poles-plane");
    drawPoles(poles, plane);
    kane.onTheme(() => drawPoles(poles, plane));
  });
  function drawPoles(poles, plane) {
    const c = plane.getContext("2d"), n = plane.width, size = 1.15 * Math.max(...poles.poles.flat().map(Math.abs), 1e-9);
    const x = (v) => n / 2 + (v / size) * (n / 2 - 8), y = (v) => n / 2 - (v / size) * (n / 2 - 8);
    const line = (...points) => { c.beginPath(); points.forEach(([a, b], k) => (k ? c.lineTo(a, b) : c.moveTo(a, b))); c.stroke(); };
    c.clearRect(0, 0, n, n);
    c.strokeStyle = kane.color("line");
    line([0, n / 2], [n, n / 2]);
    line([n / 2, 0], [n / 2, n]);
    c.fillStyle = kane.color("quiet");
    c.font = "15px sans-serif";
    for (const v of ticks(size)) { // real parts below the axis, imaginary ones to its right
      line([x(v), n / 2 - 3], [x(v), n / 2 + 3]);
      line([n / 2 - 3, y(v)], [n / 2 + 3, y(v)]);
      c.textAlign = "center";
      c.fillText(kane.number(v, 4), x(v), n / 2 + 20);
      c.textAlign = "left";
      c.fillText(kane.number(v, 4), n / 2 + 8, y(v) + 5);
    }
    c.lineWidth = 2;
    poles.poles.forEach(([re, im], k) => {
      c.strokeStyle = kane.color(poles.unstable[k] ? "bad" : "accent");
      line([x(re) - 5, y(im) - 5], [x(re) + 5, y(im) + 5]);
      line([x(re) - 5, y(im) + 5], [x(re) + 5, y(im) - 5]);
    });
    c.lineWidth = 1;
  }
  // Two or three round numbers on either side of zero, up to the size.
  function ticks(size) {
    const power = 10 ** Math.floor(Math.log10(size / 2)), step = power * [5, 2, 1].find((k) => k * power <= size / 2);
    return [-3, -2, -1, 1, 2, 3].map((k) => k * step).filter((v) => Math.abs(v) < 0.95 * size);
  }
})(window.kane);
