// Which renderer draws: WebGL where a graphics processor is, the canvas otherwise.
import { CanvasMap, MOST_POINTS } from "./canvas_map.js";
import { WebglMap } from "./webgl_map.js";

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

// "webgl" and "canvas" in the address override what is found, and `points` the limit of the canvas.
const asked = new URLSearchParams(location.search);
const forced = asked.get("renderer");
const most = Number(asked.get("points")) || MOST_POINTS;

function detect() {
  const context = document.createElement("canvas").getContext("webgl");
  if (!context) return { kind: "canvas", why: "This browser has no WebGL" };
  const details = context.getExtension("WEBGL_debug_renderer_info");
  const name = details ? context.getParameter(details.UNMASKED_RENDERER_WEBGL) : "";
  context.getExtension("WEBGL_lose_context")?.loseContext();
  if (SOFTWARE.test(name)) return { kind: "canvas", why: "There is no graphics processor" };
  return { kind: "webgl", why: "" };
}

const found = detect();
export const renderer =
  forced === "webgl" || forced === "canvas" ? { kind: forced, why: "As the address asks" } : found;

export const limit = renderer.kind === "canvas" ? most : Infinity;

export const notice =
  renderer.kind === "canvas"
    ? `${renderer.why}: maps are drawn on a canvas, point by point up to ${most.toLocaleString("en")} points and as a density beyond.`
    : "";

export function createMap(host, handlers) {
  return renderer.kind === "webgl" ? new WebglMap(host, handlers) : new CanvasMap(host, handlers);
}
