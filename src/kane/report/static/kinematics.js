"use strict";
// Forward kinematics from the same placements that the equations are derived from.
kane.part("scene", function (data) {
  const values = new Map(data.coordinates.map((c) => [c.name, c.value]));
  values.set("t", 0);
  const links = new Map(data.links.map((link) => [link.name, link]));

  const operations = {
    add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => a * b, div: (a, b) => a / b, neg: (a) => -a,
    pow: Math.pow, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos,
    atan: Math.atan, atan2: Math.atan2, exp: Math.exp, log: Math.log, abs: Math.abs, sign: Math.sign, tanh: Math.tanh,
    sinh: Math.sinh, cosh: Math.cosh, min: Math.min, max: Math.max, select: (a, b, c) => (a > 0 ? b : c),
  };
  function amount(x) {
    if (typeof x === "number") return x;
    if (x[0] === "name") return values.get(x[1]);
    return operations[x[0]](...x.slice(1).map(amount));
  }

  // A pose is a row-major 3 x 4 matrix: rotation and position.
  const identity = () => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  function rotated(T, R) {
    const out = T.slice();
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++)
        out[4 * i + j] = T[4 * i] * R[j] + T[4 * i + 1] * R[3 + j] + T[4 * i + 2] * R[6 + j];
    return out;
  }
  function turn(axis, angle) {
    const c = Math.cos(angle), s = Math.sin(angle), R = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const i = (axis + 1) % 3, j = (axis + 2) % 3;
    R[3 * i + i] = c; R[3 * i + j] = -s; R[3 * j + i] = s; R[3 * j + j] = c;
    return R;
  }
  function quaternion(w, x, y, z) {
    const n = w * w + x * x + y * y + z * z || 1, k = 2 / n;
    return [
      1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
      k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x),
      k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y),
    ];
  }
  function moved(T, moves) {
    for (const move of moves) {
      if (move[0] === "t") {
        const [x, y, z] = move.slice(1).map(amount), out = T.slice();
        for (let i = 0; i < 3; i++) out[4 * i + 3] += T[4 * i] * x + T[4 * i + 1] * y + T[4 * i + 2] * z;
        T = out;
      } else if (move[0] === "r") T = rotated(T, turn(move[1], amount(move[2])));
      else if (move[0] === "m") T = rotated(T, move.slice(1).map(amount));
      else T = rotated(T, quaternion(...move.slice(1).map(amount)));
    }
    return T;
  }

  // Poses of all links, parents first.
  kane.poses = function () {
    const poses = new Map();
    for (const link of data.links)
      poses.set(link.name, moved(link.parent === null ? identity() : poses.get(link.parent), link.moves));
    return poses;
  };
  kane.framePose = (frame, poses) => moved(poses.get(frame.link), frame.moves);

  // The pose (4 x 4, row-major nested) of a link or frame in N.
  kane.pose = function (name) {
    const poses = kane.poses();
    const frame = data.frames.find((f) => f.name === name);
    const T = links.has(name) ? poses.get(name) : frame ? kane.framePose(frame, poses) : null;
    if (!T) throw new Error("There is no link or frame " + name);
    return [T.slice(0, 4), T.slice(4, 8), T.slice(8, 12), [0, 0, 0, 1]];
  };
  // Closed loops: what differs from zero where a condition is not met.
  function placeOf(name, poses) {
    if (links.has(name)) return poses.get(name);
    const frame = data.frames.find((f) => f.name === name);
    return frame ? kane.framePose(frame, poses) : identity(); // N and its origin
  }
  kane.residuals = function () {
    const poses = kane.poses(), result = [];
    for (const c of data.closures) {
      if (c.formula !== undefined) { result.push(amount(c.formula)); continue; }
      const P = placeOf(c.point, poses), Q = placeOf(c.other, poses), F = placeOf(c.frame, poses);
      for (const k of c.axes) result.push([3, 7, 11].reduce((s, at, i) => s + F[4 * i + k] * (P[at] - Q[at]), 0));
    }
    return result;
  };
  // Close the loops by moving the coordinates that are not held: damped Gauss-Newton steps of least change.
  function close(held) {
    const free = data.coordinates.map((c) => c.name).filter((name) => !held.has(name));
    const size = (r) => Math.max(0, ...r.map(Math.abs));
    let r = kane.residuals();
    for (let step = 0; step < 60 && size(r) > 1e-13; step++) {
      const J = free.map((name) => {
        const x = values.get(name), h = 1e-6;
        values.set(name, x + h);
        const up = kane.residuals();
        values.set(name, x - h);
        const down = kane.residuals();
        values.set(name, x);
        return up.map((v, i) => (v - down[i]) / (2 * h));
      });
      const n = r.length, damping = 1e-12 + 1e-3 * Math.min(size(r), 1) ** 2;
      const A = r.map((_, i) => [...r.map((_, j) => J.reduce((s, c) => s + c[i] * c[j], 0) + (i === j ? damping : 0)), r[i]]);
      for (let i = 0; i < n; i++) {
        const pivot = A.slice(i).reduce((best, row, k) => (Math.abs(row[i]) > Math.abs(A[best][i]) ? i + k : best), i);
        [A[i], A[pivot]] = [A[pivot], A[i]];
        for (let k = 0; k < n; k++)
          if (k !== i) { const f = A[k][i] / A[i][i]; for (let j = i; j <= n; j++) A[k][j] -= f * A[i][j]; }
      }
      const y = A.map((row, i) => row[n] / row[i]);
      free.forEach((name, k) => {
        const d = J[k].reduce((s, v, i) => s + v * y[i], 0);
        values.set(name, values.get(name) - Math.max(-0.3, Math.min(0.3, d)));
      });
      r = kane.residuals();
    }
    return size(r) < 1e-9;
  }
  if (data.closures.length) {
    kane.closed = close(new Set());
    for (const c of data.coordinates) c.value = values.get(c.name);
  }
  kane.coordinates = () => Object.fromEntries(data.coordinates.map((c) => [c.name, values.get(c.name)]));
  kane.setCoordinates = function (some, source) {
    const before = new Map(values);
    for (const [name, value] of Object.entries(some)) if (values.has(name)) values.set(name, value);
    if (data.closures.length && !close(new Set(Object.keys(some)))) before.forEach((value, name) => values.set(name, value));
    kane.tell("move", source);
  };
});
