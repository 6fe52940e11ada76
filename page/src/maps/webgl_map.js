// A map drawn by the sandboxed frame; the same interface as the canvas map.
import { make } from "../dom.js";

export class WebglMap {
  constructor(host, handlers) {
    this.handlers = handlers;
    this.ready = false;
    this.waiting = [];
    this.frame = make("iframe", {
      src: "/frame.html",
      sandbox: "allow-scripts",
      title: "Map",
      tabindex: "0",
    });
    this.listen = (event) => {
      if (event.source === this.frame.contentWindow) this.receive(event.data);
    };
    addEventListener("message", this.listen);
    host.append(this.frame);
  }

  receive({ kind, row, rows, reason, key, shift }) {
    const handlers = this.handlers;
    if (kind === "ready") {
      this.ready = true;
      for (const message of this.waiting.splice(0)) this.send(...message);
    } else if (kind === "over") handlers.onHover(row);
    else if (kind === "out") handlers.onHover(-1);
    else if (kind === "select") handlers.onSelect(rows);
    else if (kind === "deselect") handlers.onSelect(new Uint32Array());
    else if (kind === "drawn") handlers.onDrawn();
    else if (kind === "failed") handlers.onFail(reason);
    else if (kind === "key") handlers.onKey(key, shift);
  }

  send(kind, content = {}, transfer = []) {
    if (!this.ready) this.waiting.push([kind, content, transfer]);
    else this.frame.contentWindow.postMessage({ kind, ...content }, "*", transfer);
  }

  draw(places, colors, options) {
    const [x, y] = [places.x.slice(), places.y.slice()];
    const message = { x, y, colors, options };
    this.send("draw", message, [x.buffer, y.buffer, colors.buffer]);
  }

  mark(marks) {
    this.send("mark", { marks });
  }

  select(places) {
    this.send("select", { rows: places });
  }

  hover(place) {
    this.send("hover", { row: place });
  }

  mode(mode) {
    this.send("mode", { mode });
  }

  reset() {
    this.send("reset");
  }

  move(x, y, zoom) {
    this.send("move", { x, y, zoom });
  }

  destroy() {
    removeEventListener("message", this.listen);
    this.frame.remove();
  }
}
