#!/usr/bin/env bash
# Rebuild the vendored front-end bundles from npm packages, by name and version.
# Needs node with npm, and Python with fonttools and brotli.  The result is written beside this script.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
npm init -y > /dev/null
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 uplot@1.6.32 esbuild@0.28.2 @fontsource/stix-two-math@5.3.0 axe-core@4.14.1

cat > three_entry.js <<'JS'
export {
  AmbientLight, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DirectionalLight,
  DoubleSide, GridHelper, Group, HemisphereLight, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, PerspectiveCamera, Scene, SphereGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
JS
echo 'export { default } from "uplot";' > uplot_entry.js
options=(--bundle --minify --format=iife --legal-comments=none --target=es2021)
npx esbuild three_entry.js "${options[@]}" --global-name=THREE --outfile="$here/three.min.js"
npx esbuild uplot_entry.js "${options[@]}" --global-name=uPlotModule --outfile="$here/uplot.min.js"
cp node_modules/uplot/dist/uPlot.min.css "$here/uplot.min.css"

# letters, Greek, mathematical alphabets (bold, italic, bold italic), operators; the MATH table keeps stretchy brackets
pyftsubset node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2 \
  --unicodes="20-7e,a0-ff,131,237,2c6-2dd,300-338,391-3c9,3d1,3d5,3f1,3f5,2010-2015,2018-201d,2020-2026,2032-2037,2057,2061-2064,20d7,210e,2113,2190-2194,2202-2212,221a,221d-221e,2225-222c,2248,2260-2265,22c5,22ee-22f1,27e8-27e9,1d400-1d433,1d434-1d467,1d468-1d49b,1d6a4-1d6e1,1d6e2-1d71b" \
  --layout-features='*' --flavor=woff2 --output-file="$here/stix-two-math.woff2"

cp node_modules/three/LICENSE "$here/LICENSE.three.txt"
cp node_modules/uplot/LICENSE "$here/LICENSE.uplot.txt"
cp node_modules/@fontsource/stix-two-math/LICENSE "$here/LICENSE.stix-two-math.txt"
# the accessibility checker of the browser tests
assets="$here/../../../../tests/browser/assets"
if [ -d "$assets" ]; then
  cp node_modules/axe-core/axe.min.js "$assets/axe.min.js"
  cp node_modules/axe-core/LICENSE "$assets/LICENSE.axe-core.txt"
fi
ls -l "$here"
