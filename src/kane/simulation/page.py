# ruff: noqa: E501
"""The page of an animation: %NAME%, %NOTE% and %DATA% are put in."""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>%NAME%</title>
<style>
:root { color-scheme: light dark; --ink: #1d2733; --soft: #8693a3; --line: #2f6fab; --mass: #c4561d; --back: #fbfcfd }
@media (prefers-color-scheme: dark) { :root { --ink: #dde5ee; --soft: #74808f; --line: #6cb0ee; --mass: #f0935c; --back: #14181d } }
body { margin: 0; background: var(--back); color: var(--ink); font: 14px/1.4 system-ui, sans-serif; display: flex; flex-direction: column; height: 100vh }
header { padding: 10px 16px 4px } h1 { font-size: 16px; margin: 0 } header p { margin: 2px 0; color: var(--mass) }
canvas { flex: 1; width: 100%; min-height: 0; touch-action: none; cursor: grab }
footer { display: flex; gap: 12px; align-items: center; padding: 8px 16px 12px }
button, select { font: inherit; padding: 3px 12px } input[type=range] { flex: 1 } output { font-variant-numeric: tabular-nums; min-width: 8em }
</style></head><body>
<header><h1>%NAME%</h1><p>%NOTE%</p></header>
<canvas id="view" aria-label="animation of the mechanism"></canvas>
<footer><button id="play">Pause</button><input id="time" type="range" min="0" step="1" value="0" aria-label="time"><output id="clock"></output>
<select id="speed" aria-label="speed"><option value="0.1">0.1x</option><option value="0.25">0.25x</option><option value="1" selected>1x</option><option value="4">4x</option></select>
<label><input id="labels" type="checkbox"> names</label></footer>
<script type="application/json" id="data">%DATA%</script>
<script>
"use strict";
const d = JSON.parse(document.getElementById("data").textContent), by = id => document.getElementById(id);
const canvas = by("view"), ctx = canvas.getContext("2d"), n = d.points.length, mass = new Set(d.masses);
let turn = d.view[0], tilt = d.view[1], zoom = 1, frame = 0, playing = n > 1, last = null, held = null, position = 0;
const low = [1e300, 1e300, 1e300], high = [-1e300, -1e300, -1e300];
for (const f of d.points) for (let i = 0; i < f.length; i++) { low[i % 3] = Math.min(low[i % 3], f[i]); high[i % 3] = Math.max(high[i % 3], f[i]) }
const middle = low.map((a, i) => (a + high[i]) / 2), size = Math.max(1e-9, Math.hypot(...low.map((a, i) => high[i] - a)));
by("time").max = n - 1;
function project(x, y, z) {
  x -= middle[0]; y -= middle[1]; z -= middle[2];
  const c = Math.cos(turn), s = Math.sin(turn), a = c * x + s * y, b = -s * x + c * y;
  return [a, Math.cos(tilt) * z + Math.sin(tilt) * b];
}
function draw() {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, style = getComputedStyle(document.documentElement);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio) }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0); ctx.clearRect(0, 0, w, h);
  const scale = zoom * 0.85 * Math.min(w, h) / size, at = p => [w / 2 + scale * p[0], h / 2 - scale * p[1]], colour = k => style.getPropertyValue(k).trim();
  const f = d.points[frame], place = k => at(project(f[3 * k], f[3 * k + 1], f[3 * k + 2]));
  const o = at(project(0, 0, 0)); ctx.lineWidth = 1; ctx.font = "12px system-ui, sans-serif";
  ["x", "y", "z"].forEach((name, k) => {
    const e = at(project(...d.axes[k].map(x => 0.08 * size * x)));
    if (Math.hypot(e[0] - o[0], e[1] - o[1]) < 4) return;
    ctx.strokeStyle = ctx.fillStyle = colour("--soft"); ctx.beginPath(); ctx.moveTo(...o); ctx.lineTo(...e); ctx.stroke(); ctx.fillText(name, e[0] + 3, e[1] - 3);
  });
  ctx.lineCap = "round"; ctx.strokeStyle = colour("--line");
  for (const [i, j] of d.lines) { ctx.lineWidth = mass.has(j) ? 2 : 4; ctx.beginPath(); ctx.moveTo(...place(i)); ctx.lineTo(...place(j)); ctx.stroke() }
  d.names.forEach((name, k) => {
    const [x, y] = place(k); ctx.fillStyle = colour(mass.has(k) ? "--mass" : "--ink"); ctx.beginPath(); ctx.arc(x, y, mass.has(k) ? 5 : 3, 0, 7); ctx.fill();
    if (by("labels").checked) { ctx.fillStyle = colour("--ink"); ctx.fillText(name, x + 7, y - 5) }
  });
  by("time").value = frame; by("clock").textContent = "t = " + (d.t0 + (d.t1 - d.t0) * frame / Math.max(1, n - 1)).toFixed(3) + " s";
}
function tick(now) {
  if (playing) {
    if (last !== null) position += (now - last) / 1000 * Number(by("speed").value) / Math.max(1e-9, d.t1 - d.t0) * (n - 1);
    if (position > n - 1) position = 0;
    frame = Math.min(n - 1, Math.floor(position));
  }
  last = now; draw(); requestAnimationFrame(tick);
}
by("play").onclick = () => { playing = !playing; by("play").textContent = playing ? "Pause" : "Play" };
by("time").oninput = e => { frame = position = Number(e.target.value); playing = false; by("play").textContent = "Play" };
canvas.onpointerdown = e => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId) };
canvas.onpointermove = e => { if (held) { turn -= (e.clientX - held[0]) / 150; tilt += (e.clientY - held[1]) / 150; held = [e.clientX, e.clientY] } };
canvas.onpointerup = () => { held = null };
canvas.addEventListener("wheel", e => { e.preventDefault(); zoom *= Math.exp(-e.deltaY / 700) }, { passive: false });
window.addEventListener("keydown", e => { if (e.key === " ") { e.preventDefault(); by("play").click() } });
requestAnimationFrame(tick);
</script></body></html>
"""
