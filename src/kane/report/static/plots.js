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
  kane.heat = function (canvas, cells, columns, rows) {
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
