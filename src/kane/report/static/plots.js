"use strict";
// Heat maps and curves.
(function (kane) {
  const { el } = kane;
  // Perceptually even colours from dark blue through teal to yellow.
  const STOPS = [[37, 52, 110], [38, 98, 138], [41, 138, 140], [84, 176, 119], [173, 208, 84], [250, 230, 60]];
  const colour = (x) => {
    const at = Math.min(Math.max(x, 0), 1) * (STOPS.length - 1), k = Math.min(Math.floor(at), STOPS.length - 2), f = at - k;
    return STOPS[k].map((c, i) => Math.round(c + (STOPS[k + 1][i] - c) * f));
  };
  // Round numbers within a range, five or so.
  kane.ticks = function (low, high) {
    const rough = (high - low) / 5;
    if (!(rough > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
    const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
  };
  // Numbers and names along the sides of a map, its frame made at the first call.
  function sides(canvas, x, y) {
    if (!canvas.parentElement.classList.contains("sides")) {
      const frame = el("div", { class: "sides" }), parts = ["up", "right"].map((c) => el("div", { class: c, "aria-hidden": "true" }));
      canvas.replaceWith(frame);
      frame.append(parts[0], canvas, parts[1]);
    }
    [[y, "up", "bottom"], [x, "right", "left"]].forEach(([side, which, edge]) => {
      const marks = kane.ticks(side.low, side.high).map((value) => {
        const mark = el("span", { text: kane.number(value, 4) });
        mark.style[edge] = (side.high > side.low ? (100 * (value - side.low)) / (side.high - side.low) : 50) + "%";
        return mark;
      });
      canvas.parentElement.querySelector("." + which).replaceChildren(...marks, el("bdi", { text: side.name }));
    });
  }
  // Cells row by row from below; x and y: name, low and high of the sides.
  kane.heat = function (canvas, cells, columns, rows, x, y) {
    sides(canvas, x, y);
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    const least = Math.min(...cells), most = Math.max(...cells), span = most - least || 1;
    for (let b = 0; b < rows; b++)
      for (let a = 0; a < columns; a++)
        image.data.set([...colour((cells[(rows - 1 - b) * columns + a] - least) / span), 255], 4 * (b * columns + a));
    context.putImageData(image, 0, 0);
  };
})(window.kane);
