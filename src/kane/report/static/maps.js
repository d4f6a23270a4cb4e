"use strict";
// Inertia and gravity torque over two coordinates, computed before.
kane.part("maps", function (data) {
  const select = document.getElementById("maps-coordinate");
  const { el } = kane;
  data.items.forEach((item, k) => select.append(el("option", { value: k, text: item.name })));
  kane.mapCells = (item, k) => {
    const map = item.maps[k];
    if (!map.cells) return new Array(data.cells ** 2).fill(map.low);
    return [...atob(map.cells)].map((c) => map.low + ((map.high - map.low) * c.charCodeAt(0)) / 255);
  };
  function draw() {
    const item = data.items[select.selectedIndex];
    ["inertia", "gravity"].forEach((what, k) => {
      const map = item.maps[k], canvas = document.getElementById("maps-" + what);
      const unit = k ? "N m or N" : "kg m² or kg", title = (k ? "Gravity torque of " : "Inertia of ") + item.name;
      const [left, right, bottom, top] = item.range;
      kane.heat(canvas, kane.mapCells(item, k), data.cells, data.cells, { name: data.names[item.x], low: left, high: right }, { name: data.names[item.y], low: bottom, high: top });
      const range = map.cells ? `from ${kane.number(map.low, 4)} to ${kane.number(map.high, 4)} ${unit}` : `the same everywhere: ${kane.number(map.low, 4)} ${unit}`;
      document.getElementById(`maps-${what}-title`).textContent = title;
      document.getElementById(`maps-${what}-range`).textContent = `${range}; ${data.names[item.x]} to the right, ${data.names[item.y]} upwards`;
      canvas.setAttribute("aria-label", `Heat map: ${title}, ${range}`);
    });
  }
  // What gravity moves most is the most telling to begin with.
  const spans = data.items.map((item) => item.maps[1].high - item.maps[1].low);
  select.selectedIndex = spans.indexOf(Math.max(...spans));
  select.addEventListener("change", draw);
  kane.later(draw);
});
