// The drawing: a row for each warp, the warps of a block together, its wgmmas in flight below them;
// several blocks of one SM over each other.

const GUTTER = 150, TRACK = 13;
const colour = name =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const unit = simulated ? 'instructions' : 'cycles';

const timeline = {
  from: 0, to: 1,   // the times that are shown
  rows: [],         // {warp, y, height}
  bars: [],         // {flights, warp, start, end, y, label}
  heads: [],        // {text, y}
  pixels: 1, rowHeight: 16,

  // ---- Layout -----------------------------------------------------------------------------------
  build(isShown = () => true) {
    const shown = clock.warps.filter(warp => warp.role !== 'idle' && isShown(warp));
    const blocks = [...new Set(shown.map(warp => warp.block))];
    this.rowHeight = shown.length <= 8 ? 16 : shown.length <= 16 ? 11 : 8;
    this.rows = [];
    this.bars = [];
    this.heads = [];
    let y = 6;
    for (const block of blocks.sort((a, b) => (b === clock.block) - (a === clock.block)))
      y = this.buildBlock(block, shown.filter(warp => warp.block === block), y) + 10;
    this.height = y + 14;
    byId('tracks').style.height = `${Math.min(this.height, Math.round(0.5 * innerHeight))}px`;
  },

  buildBlock(block, warps, y) {
    let role = '';
    this.heads.push({ text: `block ${block}`, y: y + 6, strong: block === clock.block });
    y += 16;
    for (const warp of warps) {
      if (warp.role !== role) {
        y += role ? 4 : 0;
        role = warp.role;
        this.heads.push({ text: role, y: y + this.rowHeight / 2 });
      }
      this.rows.push({ warp, y, height: this.rowHeight });
      y += this.rowHeight + (this.rowHeight > 8 ? 2 : 1);
    }
    const groups = new Map(); // by the first warp of each warpgroup: the four issue together
    for (const warp of warps)
      if (warp.flights.length && !groups.has(warp.warp >> 2)) groups.set(warp.warp >> 2, warp);
    y += groups.size ? 2 : 0;
    for (const warp of groups.values()) {
      this.heads.push({ text: groups.size > 1 ? `wgmma, ${warp.role}` : 'wgmma in flight',
        y: y + TRACK / 2 });
      y = this.buildTrack(warp, y);
    }
    return y;
  },

  buildTrack(warp, y) {
    const ends = [];
    for (const flight of warp.flights) {
      let row = ends.findIndex(end => end <= flight.start);
      if (row < 0) row = ends.length;
      ends[row] = flight.end;
      this.bars.push({ ...flight, warp, y: y + row * TRACK });
    }
    return y + ends.length * TRACK;
  },

  // ---- Drawing ----------------------------------------------------------------------------------
  x(time) { return GUTTER + (time - this.from) / (this.to - this.from) * this.width; },
  timeAt(x) { return this.from + (x - GUTTER) / this.width * (this.to - this.from); },

  resize() {
    const canvases = byId('tracks').querySelectorAll('canvas');
    for (const canvas of canvases) canvas.style.height = `${this.height}px`;
    const box = byId('tracks').clientWidth; // a scroll bar has taken its part
    this.pixels = window.devicePixelRatio || 1;
    this.width = Math.max(100, box - GUTTER - 10);
    for (const canvas of canvases) {
      canvas.width = box * this.pixels;
      canvas.height = this.height * this.pixels;
      canvas.style.width = `${box}px`;
    }
    this.drawBase();
    this.drawCursor();
  },

  paper(id) {
    const canvas = byId(id), paper = canvas.getContext('2d');
    paper.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    paper.clearRect(0, 0, canvas.width, canvas.height);
    paper.font = `11px ${colour('sans')}`;
    paper.textBaseline = 'middle';
    return paper;
  },

  drawBase() { this.drawOn(this.paper('time-base'), colour); },

  // Everything but the cursor; `tint` gives the colour of a name.
  drawOn(paper, tint) {
    const names = [...Object.values(LABELS).map(([, name]) => name), 'ink', 'faint', 'gap'];
    this.colours = Object.fromEntries(names.map(name => [name, tint(name)]));
    for (const row of this.rows) this.drawRow(paper, row);
    for (const bar of this.bars) this.drawBar(paper, bar);
    this.drawHeads(paper);
    this.drawAxis(paper);
  },

  clampX(time) { return clamp(this.x(time), GUTTER, GUTTER + this.width); },

  // What is narrower than half a pixel waits for its neighbours: a pixel has the colour of the
  // longest of them. On a screen ends are where pixels end, or it would mix two colours.
  drawRow(paper, { warp, y, height }) {
    const { time, mark } = warp, end = upperBound(time, this.to);
    const pixels = paper.canvas ? window.devicePixelRatio || 1 : 1;
    const edge = x => paper.canvas ? Math.round(x * pixels) / pixels : x;
    let begin = null, sums = {};
    const first = Math.max(0, upperBound(time, this.from) - 1);
    for (let i = first; i < Math.min(end, warp.spans); i++) {
      const left = this.clampX(time[i]), right = this.clampX(time[i + 1]);
      const tint = tintOf(clock.marks[mark[i]].label);
      if (begin === null) begin = edge(left);
      sums[tint] = (sums[tint] || 0) + right - left;
      if (edge(right) - begin < 0.5 / pixels && i + 1 < Math.min(end, warp.spans)) continue;
      const most = Object.keys(sums).reduce((a, b) => sums[b] > sums[a] ? b : a);
      paper.fillStyle = this.colours[most];
      paper.fillRect(begin, y, Math.max(0.1, edge(right) - begin), height);
      begin = null;
      sums = {};
    }
  },

  drawBar(paper, bar) {
    if (bar.end < this.from || bar.start > this.to) return;
    const left = this.clampX(bar.start), width = Math.max(1, this.clampX(bar.end) - left);
    paper.globalAlpha = 0.55; // so that the label can be read
    paper.fillStyle = this.colours[tintOf(bar.label)];
    paper.fillRect(left, bar.y + 1, width - (width > 3 ? 1 : 0), TRACK - 3);
    paper.globalAlpha = 1;
    const text = textOf(bar.label);
    if (width < paper.measureText(text).width + 8) return;
    paper.fillStyle = this.colours.ink;
    paper.textAlign = 'left';
    paper.fillText(text, left + 4, bar.y + TRACK / 2);
  },

  drawHeads(paper) {
    paper.textAlign = 'left';
    for (const head of this.heads) {
      paper.fillStyle = head.strong ? this.colours.ink : this.colours.faint;
      paper.fillText(head.text, 10, head.y);
    }
    paper.fillStyle = this.colours.faint;
    paper.textAlign = 'right';
    const every = this.rowHeight > 10 ? 1 : 4;
    for (const { warp, y, height } of this.rows)
      if (warp.warp % every === 0) paper.fillText(`${warp.warp}`, GUTTER - 6, y + height / 2 + 0.5);
  },

  drawAxis(paper) {
    const span = this.to - this.from, power = 10 ** Math.floor(Math.log10(span / 5));
    const most = Math.min(9, this.width / 70); // numbers that do not run into each other
    const step = [1, 2, 5, 10, 20, 50].map(m => m * power).find(s => span / s <= most) ||
      100 * power;
    paper.fillStyle = this.colours.faint;
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.x(t);
      paper.fillRect(Math.round(x), this.height - 16, 1, 4);
      paper.textAlign = x + 60 > GUTTER + this.width ? 'right' : 'center';
      paper.fillText(grouped(Math.round(t)), x, this.height - 6);
    }
    paper.textAlign = 'left';
    paper.fillText(simulated ? 'instructions' : `cycles of SM ${clock.sm}`, 10, this.height - 6);
  },

  drawCursor() {
    const paper = this.paper('time-cursor');
    const row = this.rows[cursor.row], { warp } = row;
    const left = this.clampX(warp.time[cursor.span]);
    const width = Math.max(3, this.clampX(warp.time[cursor.span + 1]) - left);
    paper.fillStyle = paper.strokeStyle = colour('ink');
    paper.globalAlpha = 0.12;
    paper.fillRect(left, 0, width, this.height - 16);
    paper.globalAlpha = 1;
    paper.lineWidth = 2;
    paper.strokeRect(left - 1, row.y - 1, width + 2, row.height + 2);
    const tracks = byId('tracks');
    if (row.y < tracks.scrollTop || row.y + row.height > tracks.scrollTop + tracks.clientHeight)
      tracks.scrollTop = row.y - tracks.clientHeight / 2;
  },

  // ---- Zoom -------------------------------------------------------------------------------------
  look(from, span) {
    span = clamp(span, 20, Math.max(20, clock.cycles));
    this.from = clamp(from, 0, Math.max(0, clock.cycles - span));
    this.to = this.from + span;
    this.drawBase();
    this.drawCursor();
  },
  zoom(factor, around) {
    const span = (this.to - this.from) * factor;
    this.look(around - (around - this.from) * factor, span);
  },
  all() { this.look(0, clock.cycles); },

  // So that the cursor's span is seen.
  reveal(start, end) {
    const span = this.to - this.from;
    if (end > this.from && start < this.to && (start >= this.from || end - start > span)) return;
    this.look((start + Math.min(end, start + span)) / 2 - span / 2, span);
  },

  rowAt(y) { return this.rows.findIndex(row => y >= row.y - 1 && y < row.y + row.height + 2); },
  barAt(x, y) {
    return this.bars.find(bar => y >= bar.y && y < bar.y + TRACK && x >= this.x(bar.start) &&
      x <= this.x(bar.end));
  },
};
