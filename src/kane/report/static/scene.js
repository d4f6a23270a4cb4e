"use strict";
// The robot in 3-D: shapes, meshes, or links drawn from frames with ellipsoids of inertia; sliders; playback.
kane.part("scene", function (data) {
  const holder = document.getElementById("view");
  const { el } = kane;

  // Sliders
  const panel = document.getElementById("sliders");
  const controls = new Map();
  for (const c of data.coordinates) {
    const id = "q-" + controls.size;
    const unit = c.kind === "angle" ? "rad" : c.kind === "length" ? "m" : "";
    const lower = c.kind === "quaternion" ? -1 : c.lower, upper = c.kind === "quaternion" ? 1 : c.upper;
    const output = el("output", { for: id, class: "value" });
    const input = el("input", {
      type: "range", id, min: lower, max: upper, step: (upper - lower) / 1000 || 0.001, value: c.value,
      "data-coordinate": c.name,
      oninput: () => kane.setCoordinates({ [c.name]: Number(input.value) }, input),
    });
    const label = el("label", { for: id }, el("bdi", { text: c.name }));
    panel.append(el("div", { class: "slider" }, label, output, input));
    controls.set(c.name, { input, output, unit });
  }
  function show(source) {
    const now = kane.coordinates();
    for (const [name, { input, output, unit }] of controls) {
      if (input !== source || Number(input.value).toFixed(2) !== now[name].toFixed(2)) input.value = now[name];
      output.textContent = now[name].toFixed(3).replace("-", "−") + (unit ? " " + unit : "");
      input.setAttribute("aria-valuetext", output.textContent);
    }
  }
  kane.onMove(show);
  show(null);
  document.getElementById("home").addEventListener("click", () =>
    kane.setCoordinates(Object.fromEntries(data.coordinates.map((c) => [c.name, c.value])), null));

  kane.later(view);

  function view() {
    let renderer;
    try {
      renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    } catch {
      holder.append(el("p", { class: "note", text: "This browser has no WebGL: the robot cannot be drawn here." }));
      kane.scene = null;
      return;
    }
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.domElement.setAttribute("aria-hidden", "true");
    holder.append(renderer.domElement);
    const scene = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera(35, 1, 0.001, 1000);
    // Up is where things do not fall; `ahead` and `aside` span the ground.
    const up = new THREE.Vector3(...data.gravity).multiplyScalar(-1);
    if (up.length() > 1e-9) up.normalize(); else up.set(0, 0, 1);
    const ahead = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
    ahead.addScaledVector(up, -ahead.dot(up)).normalize();
    const aside = up.clone().cross(ahead);
    const spanned = (a, b, c) => ahead.clone().multiplyScalar(a).addScaledVector(aside, b).addScaledVector(up, c);
    camera.up.copy(up);
    const orbit = new THREE.OrbitControls(camera, renderer.domElement);
    orbit.enableZoom = false; // the page scrolls; zoom by the buttons, by pinching, or with Ctrl and the wheel
    holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.1 : 1 / 1.1);
    }, { passive: false });
    scene.add(new THREE.HemisphereLight(0xffffff, 0x888899, 2.2));
    const sun = new THREE.DirectionalLight(0xffffff, 1.8);
    sun.position.copy(spanned(1, -1.5, 2.5));
    scene.add(sun);

    const PALETTE = [0x4e79a7, 0xf28e2b, 0x59a14f, 0xe15759, 0x76b7b2, 0xb07aa1, 0xedc948, 0x9c755f];
    const layers = { shapes: [], frames: [], masses: [], ellipsoids: [] };
    const groups = new Map(), bones = [];
    const size = reach();

    // The size of the robot: the sum of the distances along its longest branch.
    function reach() {
      const poses = kane.poses(), far = new Map();
      let most = 0;
      for (const link of data.links) {
        const T = poses.get(link.name), P = link.parent === null ? T : poses.get(link.parent);
        const own = Math.hypot(T[3] - P[3], T[7] - P[7], T[11] - P[11]);
        const com = link.body ? Math.hypot(...link.body.com) : 0;
        const total = (link.parent === null ? 0 : far.get(link.parent)) + own;
        far.set(link.name, total);
        most = Math.max(most, total + com);
      }
      return most > 1e-6 ? most : 1;
    }

    function bytes(text) {
      const raw = atob(text), out = new Uint8Array(raw.length);
      for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
      return new Uint16Array(out.buffer);
    }
    function meshGeometry(mesh) {
      const packed = bytes(mesh.vertices), position = new Float32Array(packed.length);
      for (let k = 0; k < packed.length; k++) position[k] = mesh.low[k % 3] + packed[k] * mesh.step[k % 3];
      const indexed = new THREE.BufferGeometry();
      indexed.setAttribute("position", new THREE.BufferAttribute(position, 3));
      indexed.setIndex(new THREE.BufferAttribute(bytes(mesh.triangles), 1));
      const flat = indexed.toNonIndexed();
      flat.computeVertexNormals();
      return flat;
    }
    function matrix(R, p, scale) {
      const [a, b, c] = scale || [1, 1, 1];
      return new THREE.Matrix4().set(
        R[0] * a, R[1] * b, R[2] * c, p[0], R[3] * a, R[4] * b, R[5] * c, p[1], R[6] * a, R[7] * b, R[8] * c, p[2], 0, 0, 0, 1);
    }
    function placed(geometry, material, transform) {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(transform);
      return mesh;
    }
    function shape(s, color) {
      const [a, b, c] = s.size;
      let geometry, scale = null;
      if (s.kind === "box") geometry = new THREE.BoxGeometry(a, b, c);
      else if (s.kind === "sphere") geometry = new THREE.SphereGeometry(a, 24, 16);
      else if (s.kind === "cylinder") geometry = new THREE.CylinderGeometry(a, a, b, 28).rotateX(Math.PI / 2);
      else if (s.kind === "capsule") geometry = new THREE.CapsuleGeometry(a, b, 8, 20).rotateX(Math.PI / 2);
      else if (data.meshes[s.file]) {
        geometry = meshGeometry(data.meshes[s.file]);
        scale = s.size.length === 3 ? s.size : null;
      } else return null;
      const material = new THREE.MeshLambertMaterial({ color, side: THREE.DoubleSide });
      if (s.color) {
        material.color.setRGB(s.color[0], s.color[1], s.color[2]);
        if (s.color[3] < 1) { material.transparent = true; material.opacity = Math.max(s.color[3], 0.15); }
      }
      return placed(geometry, material, matrix(s.rotation, s.position, scale));
    }
    function axes(length, width) {
      const group = new THREE.Group();
      [[0xd62728, [1, 0, 0]], [0x2ca02c, [0, 1, 0]], [0x1f77b4, [0, 0, 1]]].forEach(([color, d]) => {
        const bar = new THREE.Mesh(new THREE.CylinderGeometry(width, width, length, 8), new THREE.MeshBasicMaterial({ color }));
        bar.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...d));
        bar.position.set(d[0] * length / 2, d[1] * length / 2, d[2] * length / 2);
        group.add(bar);
      });
      return group;
    }
    function bone(color) {
      const material = new THREE.MeshLambertMaterial({ color });
      const mesh = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 14), material);
      scene.add(mesh);
      return mesh;
    }
    function between(mesh, from, to, radius) {
      const d = to.clone().sub(from), length = d.length();
      mesh.visible = length > 1e-6 * size;
      if (!mesh.visible) return;
      mesh.position.copy(from).addScaledVector(d, 0.5);
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), d.normalize());
      mesh.scale.set(radius, length, radius);
    }

    data.links.forEach((link, k) => {
      const group = new THREE.Group();
      group.matrixAutoUpdate = false;
      groups.set(link.name, group);
      scene.add(group);
      const color = link.parent === null ? 0x8a8f98 : PALETTE[k % PALETTE.length];
      const made = link.shapes.map((s) => shape(s, color)).filter(Boolean);
      made.forEach((mesh) => { group.add(mesh); layers.shapes.push(mesh); });
      const frame = axes(0.09 * size, 0.0035 * size);
      group.add(frame);
      layers.frames.push(frame);
      if (link.body) {
        const com = new THREE.Mesh(new THREE.SphereGeometry(0.014 * size, 16, 12), new THREE.MeshBasicMaterial({ color: 0x111111 }));
        com.position.set(...link.body.com);
        group.add(com);
        layers.masses.push(com);
        const semi = link.body.semi.map((x) => Math.max(x, 0.004 * size));
        const ball = placed(
          new THREE.SphereGeometry(1, 28, 18),
          new THREE.MeshLambertMaterial({ color, transparent: true, opacity: 0.38, depthWrite: false }),
          matrix(link.body.axes, link.body.com, semi));
        group.add(ball);
        layers.ellipsoids.push(ball);
      }
      if (link.parent !== null) bones.push({ link, mesh: bone(color), joint: joint(link, color), com: link.body ? bone(color) : null });
    });
    const drawn = layers.shapes.length > 0;

    // A joint without shapes: a small drum about the axis of its turn.
    function joint(link, color) {
      const turning = [...link.moves].reverse().find((m) => m[0] === "r" && typeof m[2] !== "number");
      if (!turning) return null;
      const mesh = new THREE.Mesh(
        new THREE.CylinderGeometry(0.03 * size, 0.03 * size, 0.075 * size, 24), new THREE.MeshLambertMaterial({ color }));
      mesh.quaternion.setFromUnitVectors(
        new THREE.Vector3(0, 1, 0), new THREE.Vector3(+(turning[1] === 0), +(turning[1] === 1), +(turning[1] === 2)));
      groups.get(link.name).add(mesh);
      return mesh;
    }
    for (const frame of data.frames) {
      const group = axes(0.07 * size, 0.003 * size);
      group.matrixAutoUpdate = false;
      scene.add(group);
      layers.frames.push(group);
      groups.set("frame " + frame.name, group);
    }

    const grid = new THREE.GridHelper(4 * size, 16);
    grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
    scene.add(grid);
    function colors() {
      grid.material.color.set(kane.color("grid") || "#999");
      grid.material.vertexColors = false;
      grid.material.needsUpdate = true;
      for (const mesh of layers.masses) mesh.material.color.set(kane.color("ink") || "#111");
      draw();
    }

    function place() {
      const poses = kane.poses();
      const put = (group, T) => {
        group.matrix.set(...T, 0, 0, 0, 1);
        group.matrixWorldNeedsUpdate = true;
      };
      for (const link of data.links) put(groups.get(link.name), poses.get(link.name));
      for (const frame of data.frames) put(groups.get("frame " + frame.name), kane.framePose(frame, poses));
      const origin = (name) => { const T = poses.get(name); return new THREE.Vector3(T[3], T[7], T[11]); };
      for (const { link, mesh, com } of bones) {
        if (!showing.bones) { mesh.visible = false; if (com) com.visible = false; continue; }
        const from = origin(link.parent), to = origin(link.name);
        between(mesh, from, to, 0.012 * size);
        if (com) between(com, to, new THREE.Vector3(...link.body.com).applyMatrix4(groups.get(link.name).matrix), 0.006 * size);
      }
      draw();
    }
    let waiting = false;
    function draw() {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; renderer.render(scene, camera); });
    }

    // Layers and camera
    const fits = data.links.every((link) => !link.body || Math.max(...link.body.semi) < 0.7 * size);
    const showing = { shapes: drawn, frames: !drawn || data.links.length < 12, masses: !drawn, ellipsoids: !drawn && fits, bones: !drawn };
    function layer(name) {
      const on = showing[name];
      if (name === "bones") { bones.forEach(({ joint }) => joint && (joint.visible = on)); place(); return; }
      layers[name].forEach((x) => (x.visible = on));
      draw();
    }
    for (const box of document.querySelectorAll("#layers input")) {
      const name = box.value;
      if (name === "shapes" && !drawn) { box.closest("label").hidden = true; continue; }
      box.checked = showing[name];
      box.addEventListener("change", () => { showing[name] = box.checked; layer(name); });
    }
    // The box around all that is shown: origins, and the spheres around shapes and ellipsoids as their matrices turn them.
    function bounds() {
      const low = new THREE.Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
      const grow = (centre, half) => { low.min(centre.clone().sub(half)); high.max(centre.clone().add(half)); };
      for (const T of kane.poses().values()) grow(new THREE.Vector3(T[3], T[7], T[11]), new THREE.Vector3());
      const solid = ["shapes", "ellipsoids"].filter((name) => showing[name]).flatMap((name) => layers[name]);
      for (const mesh of solid) {
        mesh.geometry.computeBoundingSphere();
        const ball = mesh.geometry.boundingSphere, M = mesh.parent.matrix.clone().multiply(mesh.matrix), m = M.elements;
        const half = new THREE.Vector3(...[0, 1, 2].map((k) => ball.radius * Math.hypot(m[k], m[k + 4], m[k + 8])));
        grow(ball.center.clone().applyMatrix4(M), half);
      }
      if (showing.masses) for (const { position, parent } of layers.masses) grow(position.clone().applyMatrix4(parent.matrix), new THREE.Vector3());
      return [low, high];
    }
    // Corners of that box in the picture: -1 to 1 across and up.
    function corners([low, high]) {
      camera.updateMatrixWorld();
      return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
        const corner = new THREE.Vector3(...[0, 1, 2].map((i) => (k >> i & 1 ? high : low).getComponent(i)));
        return corner.project(camera).toArray();
      });
    }
    function frameAll() {
      const box = bounds(), extent = Math.max(box[0].distanceTo(box[1]), 0.1 * size);
      const centre = box[0].clone().add(box[1]).multiplyScalar(0.5);
      orbit.target.copy(centre);
      camera.near = extent / 100;
      camera.far = extent * 100;
      camera.updateProjectionMatrix();
      for (let far = 0.6 * extent; far < 3 * extent; far *= 1.05) { // as near as all of it is seen
        camera.position.copy(centre).add(spanned(1.15, -1.7, 0.95).multiplyScalar(far));
        camera.lookAt(centre);
        if (Math.max(...corners(box).flatMap(([x, y]) => [Math.abs(x), Math.abs(y)])) < 0.95) break;
      }
      const heights = [...kane.poses().values()].map((T) => T[3] * up.x + T[7] * up.y + T[11] * up.z);
      grid.position.copy(up).multiplyScalar(Math.min(0, ...heights) - 0.002 * size);
      orbit.update();
      draw();
    }
    function zoom(by) {
      camera.position.sub(orbit.target).multiplyScalar(by).add(orbit.target);
      orbit.update();
      draw();
    }
    orbit.addEventListener("change", draw);
    document.getElementById("zoom-in").addEventListener("click", () => zoom(0.8));
    document.getElementById("zoom-out").addEventListener("click", () => zoom(1.25));
    document.getElementById("zoom-fit").addEventListener("click", frameAll);
    holder.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 0.9 : 1.1);
      else if (by) {
        const d = camera.position.clone().sub(orbit.target), r = d.length();
        const azimuth = Math.atan2(d.dot(aside), d.dot(ahead)) + by[0];
        const height = Math.min(Math.max(Math.acos(d.dot(up) / r) + by[1], 0.02), Math.PI - 0.02);
        const flat = r * Math.sin(height);
        camera.position.copy(spanned(flat * Math.cos(azimuth), flat * Math.sin(azimuth), r * Math.cos(height))).add(orbit.target);
        orbit.update();
        draw();
      } else return;
      event.preventDefault();
    });
    const resized = new ResizeObserver(() => {
      const width = holder.clientWidth, height = holder.clientHeight;
      if (!width || !height) return;
      renderer.setSize(width, height);
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      draw();
    });
    resized.observe(holder);
    kane.on("drop", () => {
      kane.seen = { robot: data.name, position: camera.position.clone(), target: orbit.target.clone() };
      resized.disconnect(); orbit.dispose(); renderer.dispose(); renderer.forceContextLoss();
    });
    kane.onMove(place);
    kane.onTheme(colors);
    Object.keys(showing).forEach(layer);
    frameAll();
    if (kane.seen?.robot === data.name) { // a served page with other values: seen from where it was seen
      camera.position.copy(kane.seen.position);
      orbit.target.copy(kane.seen.target);
      orbit.update();
    }
    place();
    colors();
    kane.scene = { drawn, size, corners: () => corners(bounds()), matrixOf: (name) => groups.get(name).matrix.toArray() };
  }
});
