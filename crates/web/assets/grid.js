// A grid on a canvas: only the cells in sight are drawn, so that a million of them scroll as a hundred do.
import { h, json, address } from "/assets/dom.js";
import { shown } from "/assets/units.js";
const FIRST = 5;
const WORDS = ["itself", "not planned", "failed", "not judged"];
const grade = (code) => code >= 95 ? "A" : code >= 75 ? "B" : code >= 45 ? "C" : code >= 15 ? "D" : "F";
const FILL = { A: "#0072b2", B: "#56b4e9", C: "#f3cf84", D: "#e69f00", F: "#d55e00" };
const INK = { A: "#fff", B: "#1f2428", C: "#1f2428", D: "#1f2428", F: "#000" };
function unpacked(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) found[at] = raw.charCodeAt(at);
  return found;
}
// A letter of many pairs as the code of one that looks like it.
const CODES = { ".": 0, "-": 1, "!": 2, "?": 3, A: 95, B: 75, C: 45, D: 15, F: 5, 0: 30, 1: 80, 2: 130, 3: 180, 4: 230 };
export function grid(data, order) {
  const codes = data.grades ? Uint8Array.from(data.grades, (letter) => CODES[letter]) : unpacked(data.codes);
  const values = data.values ? new Float32Array(unpacked(data.values).buffer) : null;
  const n = data.hosts.length;
  const judged = data.scale.kind === "expectation";
  let size = Math.max(1, Math.min(48, Math.floor(900 / Math.max(1, order.length))));
  let row = 0, column = Math.min(1, order.length - 1), asks = 0;
  const canvas = h("canvas");
  const space = h("div", { class: "space" });
  const says = h("p", { class: "says", "aria-live": "polite" });
  const box = h("div", { class: "grid", tabindex: "0", role: "application", "aria-label": "Grid: rows send, columns receive. Arrow keys move, Enter opens a pair, plus and minus zoom." }, canvas, space);
  const margin = () => size >= 12 ? 130 : 8;
  const codeAt = (r, c) => codes[order[r] * n + order[c]];
  // The first pair that has a result, where the one beside the corner has none.
  if (order.length > 1 && codeAt(row, column) < FIRST) {
    const place = order.flatMap((_, r) => { const c = order.findIndex((_, at) => codeAt(r, at) >= FIRST); return c < 0 ? [] : [[r, c]]; })[0];
    if (place) [row, column] = place;
  }
  function say() {
    if (!order.length) return;
    const code = codeAt(row, column);
    const from = data.hosts[order[row]], to = data.hosts[order[column]];
    const value = values ? values[order[row] * n + order[column]] : NaN;
    const tell = (exact, value) => says.replaceChildren(`${from} to ${to}: ${[code < FIRST ? WORDS[code] : judged ? grade(code) : "measured", exact, Number.isFinite(value) ? shown(value, data.unit) : ""].filter(Boolean).join(", ")} `,
      code === 0 ? "" : h("a", { href: address("/pair", { from, to }) }, "history"));
    const share = (percent) => percent === undefined ? "" : `${percent} % of what it should be`;
    tell(data.grades || code < FIRST || !judged ? "" : share(code - FIRST), value);
    if (!data.grades || code < FIRST) return;
    const place = [row, column].join();
    // Of many pairs a screen has the grades; what one has exactly is asked for once somebody looks at it.
    clearTimeout(asks);
    asks = setTimeout(() => json(address(`/view/v1/round/${data.round}/grid/cell`, { metric: data.metric, from, to }))
      .then((cell) => { if ([row, column].join() === place) tell(share(cell.percent), cell.value); }, () => {}), 80);
  }
  function colour(code) {
    if (code >= FIRST && judged) return FILL[grade(code)];
    if (code >= FIRST) return `hsl(203 100% ${88 - (code - FIRST) / 250 * 60}%)`;
    return code === 2 ? "#8a8f94" : code === 3 ? "#c5cace" : "#8882";
  }
  // Cells of a few pixels are too many to draw one by one: one pixel each, and the canvas enlarges them.
  let colours = null;
  function paint(brush, from, to, edge, left, top) {
    if (!colours) {
      const key = h("canvas", { width: "256", height: "1" }).getContext("2d", { willReadFrequently: true });
      for (let code = 0; code < 256; code++) { key.fillStyle = colour(code); key.fillRect(code, 0, 1, 1); }
      colours = new Uint32Array(key.getImageData(0, 0, 256, 1).data.buffer);
    }
    const columns = to.column - from.column, rows = to.row - from.row;
    if (columns < 1 || rows < 1) return;
    const image = new ImageData(columns, rows), pixels = new Uint32Array(image.data.buffer);
    for (let r = 0, at = 0; r < rows; r++) for (let c = 0; c < columns; c++) pixels[at++] = colours[codeAt(from.row + r, from.column + c)];
    const cells = h("canvas", { width: columns, height: rows });
    cells.getContext("2d").putImageData(image, 0, 0);
    brush.imageSmoothingEnabled = false;
    brush.drawImage(cells, edge + from.column * size - left, edge + from.row * size - top, columns * size, rows * size);
  }
  function draw() {
    const scale = window.devicePixelRatio || 1, width = box.clientWidth, height = box.clientHeight, edge = margin();
    canvas.width = width * scale; canvas.height = height * scale;
    canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    const total = edge + order.length * size + 8;
    space.style.width = `${total}px`; space.style.height = `${total}px`;
    const brush = canvas.getContext("2d");
    brush.scale(scale, scale); brush.textBaseline = "middle";
    const left = box.scrollLeft, top = box.scrollTop, gap = size >= 6 ? 1 : 0;
    const firstRow = Math.floor(top / size), lastRow = Math.min(order.length, Math.ceil((top + height - edge) / size));
    const firstColumn = Math.floor(left / size), lastColumn = Math.min(order.length, Math.ceil((left + width - edge) / size));
    const ink = getComputedStyle(document.body).color;
    brush.save(); brush.beginPath(); brush.rect(edge, edge, width, height); brush.clip();
    const isFine = size < 6;
    if (isFine) paint(brush, { row: firstRow, column: firstColumn }, { row: lastRow, column: lastColumn }, edge, left, top);
    if (isFine) { brush.strokeStyle = ink; brush.lineWidth = 2; brush.strokeRect(edge + column * size - left, edge + row * size - top, size, size); }
    else for (let r = firstRow; r < lastRow; r++) for (let c = firstColumn; c < lastColumn; c++) {
      const code = codeAt(r, c), x = edge + c * size - left, y = edge + r * size - top;
      brush.fillStyle = colour(code);
      brush.fillRect(x, y, size - gap, size - gap);
      if (size >= 14 && code !== 0) {
        const mark = code >= FIRST ? judged ? grade(code) : "" : ["", "\u00b7", "!", "?"][code];
        brush.fillStyle = code >= FIRST && judged ? INK[grade(code)] : ink;
        brush.font = `bold ${Math.min(14, size - 3)}px sans-serif`; brush.textAlign = "center";
        brush.fillText(mark, x + size / 2, y + size / 2);
      }
      if (r === row && c === column) { brush.strokeStyle = ink; brush.lineWidth = 2; brush.strokeRect(x, y, size - gap, size - gap); }
    }
    brush.restore();
    if (edge < 50) return;
    brush.fillStyle = ink; brush.font = "12px sans-serif"; brush.textAlign = "right";
    brush.save(); brush.beginPath(); brush.rect(0, edge, edge, height); brush.clip();
    for (let r = firstRow; r < lastRow; r++) brush.fillText(data.hosts[order[r]], edge - 6, edge + (r + .5) * size - top, edge - 8);
    brush.restore(); brush.save(); brush.beginPath(); brush.rect(edge, 0, width, edge); brush.clip(); brush.textAlign = "left";
    for (let c = firstColumn; c < lastColumn; c++) {
      brush.save(); brush.translate(edge + (c + .5) * size - left, edge - 6); brush.rotate(-Math.PI / 2);
      brush.fillText(data.hosts[order[c]], 0, 0, edge - 8); brush.restore();
    }
    brush.restore();
  }
  function fit() { box.style.height = `${Math.min(Math.max(240, window.innerHeight * .7), margin() + order.length * size + 24)}px`; }
  function zoom(factor) { size = Math.max(1, Math.min(64, Math.round(size * factor) || 1)); fit(); draw(); }
  function move(r, c) {
    row = Math.max(0, Math.min(order.length - 1, r)); column = Math.max(0, Math.min(order.length - 1, c));
    const edge = margin();
    box.scrollTop = Math.min(row * size, Math.max(box.scrollTop, (row + 1) * size - box.clientHeight + edge));
    box.scrollLeft = Math.min(column * size, Math.max(box.scrollLeft, (column + 1) * size - box.clientWidth + edge));
    say(); draw();
  }
  const open = () => { if (row !== column) location.assign(address("/pair", { from: data.hosts[order[row]], to: data.hosts[order[column]] })); };
  const keys = { ArrowUp: () => move(row - 1, column), ArrowDown: () => move(row + 1, column), ArrowLeft: () => move(row, column - 1),
    ArrowRight: () => move(row, column + 1), Enter: open, "+": () => zoom(1.5), "-": () => zoom(1 / 1.5) };
  box.addEventListener("keydown", (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
  box.addEventListener("scroll", draw);
  canvas.addEventListener("click", (event) => {
    const edge = margin(), r = Math.floor((event.offsetY - edge + box.scrollTop) / size), c = Math.floor((event.offsetX - edge + box.scrollLeft) / size);
    if (r >= 0 && c >= 0 && r < order.length && c < order.length) { move(r, c); box.focus(); }
  });
  fit();
  new ResizeObserver(draw).observe(box);
  say();
  const legend = judged ? Object.keys(FILL).map((letter) => { const key = h("span", { class: "key" }, letter); key.style.background = FILL[letter]; key.style.color = INK[letter]; return h("span", null, key, { A: "90 % and more", B: "70 %", C: "40 %", D: "10 %", F: "less" }[letter]); }) : [`from ${shown(data.scale.low, data.unit)} (light) to ${shown(data.scale.high, data.unit)} (dark)`];
  return h("div", null, h("div", { class: "row" }, legend, h("span", { class: "quiet" }, "? not judged, ! failed, \u00b7 not planned"),
    h("button", { type: "button", onclick: () => zoom(1.5), "aria-label": "Zoom in" }, "+"), h("button", { type: "button", onclick: () => zoom(1 / 1.5), "aria-label": "Zoom out" }, "\u2212")), box, says);
}
