// A picture of more points than a canvas draws: the server counts them in each pixel of the view.
import { rgb } from "../colors.js";

// Keeps the last picture until that of a new view has come, and asks for one view at a time.
export class Density {
  constructor(ask, onPicture) {
    this.ask = ask;
    this.onPicture = onPicture;
    this.canvas = document.createElement("canvas");
    this.box = null;
    this.busy = false;
  }

  // `box` is the part of the map that is seen, with its pixels.
  async show(box) {
    this.wanted = box;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted) {
        const asked = this.wanted;
        this.wanted = null;
        if (JSON.stringify(asked) === JSON.stringify(this.box)) continue;
        const planes = await this.ask(asked);
        const size = asked.width * asked.height;
        this.counts = planes.subarray(0, size);
        this.rows = planes.subarray(size);
        this.box = asked;
        this.onPicture();
      }
    } finally {
      this.busy = false;
    }
  }

  // Colours are those of a row in each pixel; the more points, the stronger.
  paint(colorOf, palette, background) {
    if (!this.box) return;
    const { width, height } = this.box;
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    let most = 1;
    for (let at = 0; at < this.counts.length; at++) if (this.counts[at] > most) most = this.counts[at];
    const shades = shadesOf(palette, background);
    const strength = new Uint8Array(most + 1);
    for (let count = 1; count <= most; count++) strength[count] = 5 + Math.round(10 * (Math.log(count) / Math.log(Math.max(most, 2))));
    const empty = shades[0];
    for (let at = 0; at < pixels.length; at++) {
      const count = this.counts[at];
      pixels[at] = count ? shades[16 * colorOf(this.rows[at]) + strength[count]] : empty;
    }
    context.putImageData(image, 0, 0);
  }
}

// Sixteen steps from the background to each colour, as pixels in memory.
function shadesOf(palette, background) {
  const from = rgb(background);
  const shades = new Uint32Array(16 * palette.length);
  palette.forEach((color, place) => {
    const to = rgb(color);
    for (let step = 0; step < 16; step++) {
      const [red, green, blue] = from.map((part, at) => Math.round(part + (to[at] - part) * (step / 15)));
      shades[16 * place + step] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    }
  });
  return shades;
}
