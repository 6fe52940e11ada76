// Reads the points of this page, hands them to the renderer by messages, and shows legend and hover.
(() => {
  // The renderer talks to its parent, which is this page, also where it is shown in a frame.
  window.parent = window;
  const find = (id) => document.getElementById(id);
  const facts = JSON.parse(find("facts").textContent);
  const read = (id, Kind) => {
    const text = atob(find(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    find(id).remove();
    return new Kind(bytes.buffer);
  };
  const [x, y] = [read("x", Float32Array), read("y", Float32Array)];
  const [codes, values] = [read("codes", Uint16Array), read("values", Float32Array)];
  const rows = read("rows", Uint32Array);
  const hidden = new Set();
  // Places in the arrays of the points that are drawn; null where all are.
  let drawn = null;
  let mouse = [0, 0];

  const send = (kind, content = {}) => postMessage({ kind, ...content }, "*");
  const options = {
    background: "#ffffff",
    palette: facts.palette.length > 1 ? facts.palette : [facts.palette[0], facts.palette[0]],
    ink: "#222222",
    accent: "#d55e00",
    strong: "#d55e00",
  };

  function draw() {
    drawn = null;
    if (hidden.size) {
      drawn = [];
      for (let at = 0; at < codes.length; at++) if (!hidden.has(codes[at])) drawn.push(at);
    }
    const take = (all) => (drawn ? Float32Array.from(drawn, (at) => all[at]) : Float32Array.from(all));
    send("draw", { x: take(x), y: take(y), colors: take(codes), options });
  }

  function describe(place) {
    const at = drawn ? drawn[place] : place;
    const lines = [facts.names ? facts.names[at] : `row ${rows[at]}`];
    if (!facts.names) {
      const own = facts.classes.find((each) => each.code === codes[at]);
      if (own) lines.push(own.name);
      else if (facts.scale) lines.push(`${facts.scale.title} ${values[at].toPrecision(4)}`.trim());
    }
    [x, y].forEach((axis, number) => {
      const value = axis[at] * facts.reaches[number] + facts.centers[number];
      lines.push(`${facts.axes[number]}: ${value.toPrecision(4)}`);
    });
    return lines.join("\n");
  }

  function show(place) {
    const box = find("hover");
    box.hidden = place < 0;
    if (place < 0) return;
    box.textContent = describe(place);
    box.style.left = `${Math.min(mouse[0] + 14, innerWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${Math.min(mouse[1] + 14, innerHeight - box.offsetHeight - 4)}px`;
  }

  function showLegend() {
    const box = find("legend");
    box.append(facts.legend || (facts.scale ? facts.scale.title : ""));
    for (const { name, color, code } of facts.classes) {
      const [button, dot] = [document.createElement("button"), document.createElement("i")];
      dot.style.background = color;
      button.append(dot, name);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        if (!hidden.delete(code)) hidden.add(code);
        if (hidden.size === facts.classes.length && !facts.scale) hidden.clear();
        for (const [place, each] of facts.classes.entries())
          box.querySelectorAll("button")[place].setAttribute("aria-pressed", String(!hidden.has(each.code)));
        draw();
      });
      box.append(button);
    }
    if (facts.scale) {
      const bar = document.createElement("div");
      bar.className = "bar";
      const colors = facts.scale.colors.map((rgb) => `rgb(${rgb.map((part) => Math.round(255 * part))})`);
      bar.style.background = `linear-gradient(to top, ${colors.filter((_, at) => at % 15 === 0)})`;
      const [low, high] = facts.scale.bounds.map((bound) => bound.toPrecision(4));
      const [top, bottom] = [document.createElement("div"), document.createElement("div")];
      top.append(high);
      bottom.append(low);
      box.append(top, bar, bottom);
    }
    box.hidden = !box.textContent;
  }

  addEventListener("message", ({ source, data }) => {
    if (source !== window) return;
    if (data.kind === "ready") draw();
    else if (data.kind === "over") show(data.row);
    else if (data.kind === "out") show(-1);
    else if (data.kind === "drawn") document.body.dataset.drawn = data.points;
    else if (data.kind === "failed") {
      find("notice").hidden = false;
      find("notice").textContent =
        `This browser cannot draw the ${x.length} points, for want of WebGL (${data.reason}). ` +
        "Allow WebGL, or draw a .png file.";
    }
  });
  addEventListener("mousemove", (event) => (mouse = [event.clientX, event.clientY]), true);
  showLegend();
})();
