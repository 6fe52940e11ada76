"""Linked maps of ``unbend.view`` in a real browser: a lasso there is the selection here.

No notebook runs: jupyter-scatter's own bundle is given models of the same interface, whose changes
go to the widgets in this process and back, as a notebook's messages do.
"""

import base64
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import unbend
from tests.browser import NO_BROWSER, webgl_tab

ADDRESS = "http://127.0.0.1:9/"
PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<div id="map0" style="width:400px;height:360px"></div>
<div id="map1" style="width:400px;height:360px"></div>
<script type="module">
import bundle from "./bundle.js";
const decode = (value) => {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if ("bytes in base64" in value) {
    const bytes = Uint8Array.from(atob(value["bytes in base64"]), (letter) => letter.charCodeAt(0));
    return new DataView(bytes.buffer);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, decode(each)]));
};
const encode = (value) => {
  if (Array.isArray(value)) return value.map(encode);
  if (value === null || typeof value !== "object") return value;
  const buffer = value instanceof ArrayBuffer ? value : value.buffer;
  if (buffer) {
    const start = value.byteOffset ?? 0;
    const bytes = new Uint8Array(buffer, start, value.byteLength);
    return { "bytes in base64": btoa(String.fromCharCode(...bytes)) };
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, encode(each)]));
};
class Model {
  constructor(place, state) {
    Object.assign(this, { place, state, listeners: {}, dirty: new Set() });
  }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; this.dirty.add(name); }
  on(event, call) { (this.listeners[event] ??= []).push(call); }
  off(event, call) {
    this.listeners[event] = (this.listeners[event] ?? []).filter((each) => each !== call);
  }
  send() {}
  save_changes() {
    const changed = {};
    for (const name of this.dirty) changed[name] = encode(this.state[name]);
    this.dirty.clear();
    fromBrowser(this.place, JSON.stringify(changed));
  }
  receive(name, value) {
    this.state[name] = value;
    for (const call of this.listeners[`change:${name}`] ?? []) call();
  }
}
const models = [];
window.receive = (place, name, value) => models[place].receive(name, decode(value));
const widget = typeof bundle === "function" ? await bundle() : bundle;
for (const [place, state] of STATES.entries()) {
  const model = new Model(place, decode(state));
  models.push(model);
  await widget.initialize?.({ model });
  await widget.render({ model, el: document.getElementById(`map${place}`) });
}
document.body.dataset.ready = "yes";
</script>"""


def encode(value):
    """Return a widget's state as JSON, with the bytes of arrays in base64."""
    if isinstance(value, memoryview | bytes):
        return {"bytes in base64": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, dict):
        return {str(name): encode(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [encode(each) for each in value]
    return value


def decode(value):
    """Return what the browser sent as a widget takes it."""
    if isinstance(value, dict):
        if "bytes in base64" in value:
            return base64.b64decode(value["bytes in base64"])
        return {name: decode(each) for name, each in value.items()}
    return [decode(each) for each in value] if isinstance(value, list) else value


def state_of(widget):
    """Return what a notebook would send of a widget."""
    left_out = ("_esm", "_css", "layout", "comm", "keys", "tabbable", "tooltip")
    state = widget.get_state()
    return {name: encode(each) for name, each in state.items() if name not in left_out}


@pytest.mark.slow
@pytest.mark.skipif(
    NO_BROWSER or find_spec("jscatter") is None,
    reason="needs chromium, playwright and jupyter-scatter",
)
def test_a_lasso_in_one_map_is_the_selection_of_all():
    rng = np.random.default_rng(0)
    # Two clouds left and right in the first map, in the second one above the other; corners, in
    # no cloud, keep both away from the border.
    left = rng.permutation(200) < 80
    cloud = 0.1 * rng.normal(size=(200, 2))
    first = cloud + np.where(left, -1, 1)[:, None] * [1, 0]
    first[np.flatnonzero(~left)[:4]] = [(-2, -2), (-2, 2), (2, -2), (2, 2)]
    second = cloud[:, ::-1] + np.where(left, -1, 1)[:, None] * [0, 1]
    shown = unbend.view({"beside": first, "above": second}, labels=np.where(left, "left", "right"))
    for scatter in shown.scatters:
        scatter.mouse(mode="lasso")
        scatter.axes(False)
    widgets = [scatter.widget for scatter in shown.scatters]
    bundle = Path(find_spec("jscatter").origin).with_name("bundle.js").read_text("utf-8")
    states = json.dumps([state_of(widget) for widget in widgets]).replace("<", "\\u003c")
    files = {
        "": ("text/html", PAGE.replace("STATES", states)),
        "bundle.js": ("text/javascript", bundle),
    }

    def answer(route):
        name = route.request.url.removeprefix(ADDRESS)
        if name in files:
            route.fulfill(content_type=files[name][0], body=files[name][1])
        else:
            route.fulfill(status=404, body="")

    sent = []
    with webgl_tab(420, 740) as tab:
        tab.expose_function("fromBrowser", lambda place, text: sent.append((place, text)))
        tab.route("**/*", answer)
        tab.goto(ADDRESS)
        tab.wait_for_function("document.body.dataset.ready === 'yes'")
        tab.wait_for_timeout(1000)
        box = tab.locator("#map0 canvas").first.bounding_box()
        low, high = (box["y"] + share * box["height"] for share in (0.2, 0.8))
        near, far = (box["x"] + share * box["width"] for share in (0.08, 0.5))
        tab.mouse.move(near, low)
        tab.mouse.down()
        for x, y in ((far, low), (far, high), (near, high), (near, low + 2)):
            tab.mouse.move(x, y, steps=8)
            tab.wait_for_timeout(150)
        tab.mouse.up()
        for _ in range(100):
            tab.wait_for_timeout(200)
            if any("selection" in json.loads(text) for _, text in sent):
                break
        changes = [(place, json.loads(text)) for place, text in sent]
        (place, change), *_ = [each for each in changes if "selection" in each[1]]
        assert place == 0
        widgets[place].set_state({"selection": decode(change["selection"])})
        assert shown.selection.tolist() == np.flatnonzero(left).tolist()
        assert [sorted(s.selection().tolist()) for s in shown.scatters] == [
            np.flatnonzero(left).tolist()
        ] * 2
        # The other map gets the selection back, and draws it.
        before = tab.locator("#map1").screenshot()
        other = encode(widgets[1].get_state(["selection"])["selection"])
        tab.evaluate("value => receive(1, 'selection', value)", other)
        tab.wait_for_timeout(1000)
        assert tab.locator("#map1").screenshot() != before
