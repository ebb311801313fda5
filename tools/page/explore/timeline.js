// The timeline: a row for each warp, tracks for what is in flight, and who releases whom.

const GUTTER = 124, TRACK = 15, TOP = 4;
const KIND_NAMES = {
  'cp.async': 'cp.async', 'bulk load': 'TMA loads', 'wgmma': 'wgmma', 'bulk store': 'TMA stores',
};
const colour = name =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const timeline = {
  from: 0, to: 1,     // the times that are shown
  rows: [],           // {warp, y, height}
  bars: [],           // what is in flight: {kind, warp, first, start, end, y, label, ...}
  chosen: null,       // the bar whose span is marked
  launch: -1, pixels: 1,

  // ---- Layout -----------------------------------------------------------------------------------
  build() {
    const launch = here(), warps = launch.warps.length;
    const height = warps <= 4 ? 20 : warps > 12 ? 6 : innerHeight < 900 ? 8 : 12;
    const roles = rolesOf(launch);
    this.launch = cursor.launch;
    this.from = 0;
    this.to = launch.end;
    this.chosen = null;
    this.rows = [];
    this.roles = [];
    let y = TOP;
    for (let warp = 0; warp < warps; warp++) {
      const opens = warp > 0 && roles[warp] !== roles[warp - 1];
      if (opens) y += 5;
      if (warp === 0 || opens) this.roles.push({ text: roles[warp], y, first: warp, last: warp });
      this.roles[this.roles.length - 1].last = warp;
      this.rows.push({ warp, y, height });
      y += height + (height > 8 ? 2 : 1);
    }
    y += 6;
    this.bars = [];
    this.tracks = [];
    for (const kind of Object.keys(KIND_NAMES)) y = this.buildTrack(launch, kind, y);
    this.height = y + 16;
  },

  // Bars of one kind, below each other where they overlap; those of several warps that belong
  // together are one.
  buildTrack(launch, kind, y) {
    const groups = new Map();
    for (const [index, flight] of launch.flights.entries()) {
      if (flight.kind !== kind || flight.first < 0) continue;
      const team = kind === 'wgmma' ? flight.warp >> 2 : kind === 'bulk load' ? index : 0;
      const key = `${team} ${kind === 'bulk load' ? '' : flight.group}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(flight);
    }
    if (!groups.size) return y;
    const bars = [...groups.values()].map(flights => this.bar(launch, kind, flights));
    bars.sort((a, b) => a.start - b.start);
    const ends = [];
    for (const bar of bars) {
      let row = ends.findIndex(end => end <= bar.start);
      if (row < 0) row = ends.length;
      ends[row] = bar.end;
      bar.y = y + row * TRACK;
    }
    this.tracks.push({ kind, y, rows: ends.length });
    this.bars.push(...bars);
    return y + ends.length * TRACK + 4;
  },

  bar(launch, kind, flights) {
    const time = (warp, step) => launch.warps[warp].time[step];
    const [first] = flights;
    const bar = {
      kind, flights, warp: first.warp, first: first.first,
      start: Math.min(...flights.map(f => time(f.warp, f.first))),
      bytes: flights.reduce((sum, f) => sum + f.bytes, 0),
    };
    const ends = flights.map(f => {
      if (f.wait >= 0) return time(f.warp, f.wait);
      const phase = launch.mbarriers[f.phase];
      if (!phase || !phase.waits.length) return phase ? phase.time : launch.end;
      return Math.min(...phase.waits.map(w => time(w.warp, w.step + 1) - 1));
    });
    bar.end = Math.max(bar.start + 1, ...ends);
    bar.label = kind === 'wgmma' ? PHASES[opAt(first.warp, first.first).phase]
      : this.tensorsOf(launch, first).join(' ');
    return bar;
  },

  // The names of the tensors that a flight copies.
  tensorsOf(launch, flight) {
    const names = new Set(), warp = launch.warps[flight.warp];
    for (let i = lowerBound(warp.requestStep, flight.first);
      i < warp.requests && warp.requestStep[i] <= flight.last; i++) {
      const f = launch.footprints[warp.footprint[i]];
      if (f.space === 'global' && f.tensor >= 0) names.add(element(launch, f.tensor, 0).name);
    }
    for (const t of launch.transfers)
      if (launch.flights[t.flight] === flight && t.tensor >= 0)
        names.add(element(launch, t.tensor, 0).name);
    return [...names];
  },

  // ---- Drawing ----------------------------------------------------------------------------------
  x(time) { return GUTTER + (time - this.from) / (this.to - this.from) * this.width; },
  timeAt(x) { return this.from + (x - GUTTER) / this.width * (this.to - this.from); },

  resize() {
    const tracks = document.getElementById('tracks'), most = Math.round(0.38 * innerHeight);
    tracks.style.height = `${Math.min(this.height, most)}px`;
    const canvases = tracks.querySelectorAll('canvas');
    for (const canvas of canvases) canvas.style.height = `${this.height}px`;
    const box = tracks.clientWidth; // a scroll bar has taken its part
    this.pixels = window.devicePixelRatio || 1;
    this.width = Math.max(100, box - GUTTER - 10);
    for (const canvas of canvases) {
      canvas.width = box * this.pixels;
      canvas.height = this.height * this.pixels;
      canvas.style.width = `${box}px`;
    }
    this.drawBase();
  },

  paper(id) {
    const canvas = document.getElementById(id), paper = canvas.getContext('2d');
    paper.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    paper.clearRect(0, 0, canvas.width, canvas.height);
    paper.font = `11px ${colour('sans')}`;
    paper.textBaseline = 'middle';
    return paper;
  },

  drawBase() { this.drawOn(this.paper('time-base'), colour); },

  // Everything but the cursor; `tint` gives the colour of a name.
  drawOn(paper, tint) {
    const names = [...Object.keys(PHASES), 'ink', 'faint', 'rule', 'gap', 'paper'];
    this.colours = Object.fromEntries(names.map(name => [name, tint(name)]));
    for (const row of this.rows) this.drawRow(paper, row);
    this.drawLabels(paper);
    for (const bar of this.bars) this.drawBar(paper, bar);
    this.drawAxis(paper);
    this.drawReleases(paper);
  },

  // A row is drawn pixel by pixel, each in the colour that most of its steps have.
  drawRow(paper, row) {
    const warp = here().warps[row.warp];
    const stepFrom = time => lowerBound(warp.time, Math.ceil(time), 0, warp.steps);
    const perPixel = (this.to - this.from) / this.width;
    let begin = 0, last = '', first = stepFrom(this.from);
    const flush = end => {
      if (last && end > begin) {
        paper.fillStyle = this.colours[last];
        paper.fillRect(GUTTER + begin, row.y, end - begin, row.height);
      }
      begin = end;
    };
    for (let x = 0; x < this.width; x++) {
      const end = stepFrom(this.from + (x + 1) * perPixel);
      const name = this.phaseBetween(warp, first, end, this.from + x * perPixel);
      first = end;
      if (name === last) continue;
      flush(x);
      last = name;
    }
    flush(this.width);
    if (perPixel < 0.25) this.drawSteps(paper, row, warp);
  },

  // The phase of the steps from `first` to before `end`; at time `from` if there are none.
  phaseBetween(warp, first, end, from) {
    if (first === end) { // between two steps, inside one, or after the last
      if (first === warp.steps) return from < warp.time[warp.steps] ? this.lastPhase(warp) : '';
      if (first === 0) return '';
      return from < warp.time[first - 1] + 1 ? here().ops[warp.op[first - 1]].phase : 'gap';
    }
    const votes = {};
    const stride = Math.max(1, Math.floor((end - first) / 9));
    for (let step = first; step < end; step += stride) {
      const phase = here().ops[warp.op[step]].phase;
      votes[phase] = (votes[phase] || 0) + (phase === 'other' ? 0.5 : 1);
    }
    return Object.keys(votes).reduce((best, name) => votes[name] > votes[best] ? name : best);
  },

  lastPhase: warp => here().ops[warp.op[warp.steps - 1]].phase,

  // Close up, a line between two steps.
  drawSteps(paper, row, warp) {
    paper.fillStyle = this.colours.paper;
    const first = lowerBound(warp.time, Math.floor(this.from), 0, warp.steps);
    for (let step = first; step < warp.steps && warp.time[step] <= this.to; step++)
      if (warp.time[step] > this.from) paper.fillRect(this.x(warp.time[step]) - 0.5, row.y, 1,
        row.height);
  },

  drawLabels(paper) {
    paper.fillStyle = this.colours.faint;
    paper.textAlign = 'right';
    const every = this.rows[0].height > 8 ? 1 : 4;
    for (const row of this.rows)
      if (row.warp % every === 0)
        paper.fillText(`${row.warp}`, GUTTER - 6, row.y + row.height / 2 + 0.5);
    paper.textAlign = 'left';
    paper.fillStyle = this.colours.ink;
    for (const role of this.roles) {
      const last = this.rows[role.last];
      const y = (role.y + last.y + last.height) / 2;
      paper.fillText(role.text || 'warps', 10, y);
    }
    for (const track of this.tracks)
      paper.fillText(KIND_NAMES[track.kind], 10, track.y + TRACK / 2);
  },

  drawBar(paper, bar) {
    const x = Math.max(GUTTER, this.x(bar.start)), end = Math.min(this.x(bar.end),
      GUTTER + this.width);
    if (end < GUTTER || x > GUTTER + this.width) return;
    const width = Math.max(2, end - x);
    const phase = bar.kind === 'wgmma' ? opAt(bar.warp, bar.first).phase
      : bar.kind === 'bulk store' ? 'store' : 'copy';
    paper.fillStyle = this.colours[phase];
    paper.globalAlpha = 0.55; // so that the label can be read
    paper.fillRect(x, bar.y + 1, width, TRACK - 3);
    paper.globalAlpha = 1;
    if (bar === this.chosen) {
      paper.strokeStyle = this.colours.ink;
      paper.strokeRect(x + 0.5, bar.y + 1.5, width - 1, TRACK - 4);
    }
    if (width > paper.measureText(bar.label).width + 8) {
      paper.fillStyle = this.colours.ink;
      paper.fillText(bar.label, x + 4, bar.y + TRACK / 2);
    }
  },

  drawAxis(paper) {
    const span = this.to - this.from, power = 10 ** Math.floor(Math.log10(span / 5));
    const most = Math.min(9, this.width / 70); // numbers that do not run into each other
    const step = [1, 2, 5, 10, 20, 50].map(m => m * power).find(s => span / s <= most) ||
      100 * power;
    paper.textAlign = 'center';
    paper.fillStyle = this.colours.faint;
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.x(t);
      paper.fillRect(Math.round(x), this.height - 16, 1, 4);
      const last = x + 60 > GUTTER + this.width;
      paper.textAlign = last ? 'right' : 'center';
      paper.fillText(grouped(t), x, this.height - 6);
    }
    paper.textAlign = 'left';
    paper.fillText('instructions', 10, this.height - 6);
  },

  arrow(paper, from, to) {
    const launch = here(), a = this.rows[from.warp], b = this.rows[to.warp];
    const start = this.x(launch.warps[from.warp].time[from.step]);
    const x2 = this.x(launch.warps[to.warp].time[to.step + 1] - 1);
    if (Math.max(start, x2) < GUTTER || Math.min(start, x2) > GUTTER + this.width) return;
    const x1 = Math.max(GUTTER, start); // before that are the labels
    const down = b.y > a.y;
    const y1 = a.y + a.height / 2, y2 = down ? b.y : b.y + b.height;
    paper.beginPath();
    paper.moveTo(x1, y1);
    if (Math.abs(x2 - x1) > 6) paper.bezierCurveTo(x1 + 10, y1, x2, (y1 + y2) / 2, x2, y2);
    else paper.lineTo(x2, y2);
    paper.stroke();
    paper.beginPath();
    paper.moveTo(x2, y2);
    paper.lineTo(x2 - 3, y2 + (down ? -5 : 5));
    paper.lineTo(x2 + 3, y2 + (down ? -5 : 5));
    paper.fill();
  },

  drawReleases(paper) {
    const inView = here().releases.filter(r => {
      const { time } = here().warps[r.to.warp], t = time[r.to.step];
      const waited = time[r.to.step + 1] - t > 1; // else it has passed without a stop
      return waited && t >= this.from && t <= this.to;
    });
    if (inView.length > 90) return;
    paper.strokeStyle = paper.fillStyle = this.colours.ink;
    paper.globalAlpha = 0.35;
    for (const r of inView) this.arrow(paper, r.from, r.to);
    paper.globalAlpha = 1;
  },

  // ---- The cursor -------------------------------------------------------------------------------
  paint() {
    if (this.launch !== cursor.launch) {
      this.build();
      this.resize();
    }
    if (timeHere() < this.from || timeHere() > this.to) this.show(timeHere());
    else this.drawCursor();
    const tracks = document.getElementById('tracks'), row = this.rows[cursor.warp];
    if (row.y < tracks.scrollTop || row.y + row.height > tracks.scrollTop + tracks.clientHeight)
      tracks.scrollTop = row.y - tracks.clientHeight / 2;
  },

  // What of it lies in the times that are shown, which need not have it.
  drawCursor() {
    const paper = this.paper('time-cursor');
    const row = this.rows[cursor.warp], x = this.x(timeHere());
    const width = Math.max(3, this.x(timeHere() + 1) - x);
    paper.save();
    paper.beginPath();
    paper.rect(GUTTER - 2, 0, this.width + 4, this.height);
    paper.clip();
    if (this.chosen) {
      paper.fillStyle = this.colours.ink;
      paper.globalAlpha = 0.1;
      paper.fillRect(this.x(this.chosen.start), 0,
        this.x(this.chosen.end) - this.x(this.chosen.start), this.chosen.y);
      paper.globalAlpha = 1;
    }
    paper.fillStyle = this.colours.ink;
    paper.fillRect(Math.round(x), 0, 1, this.height - 16);
    paper.strokeStyle = this.colours.ink;
    paper.lineWidth = 2;
    paper.strokeRect(x - 1, row.y - 1, width + 1, row.height + 2);
    for (const r of happeningsAt(cursor.warp, cursor.step).releases)
      this.arrow(paper, r.from, r.to);
    paper.restore();
  },

  // ---- Zoom -------------------------------------------------------------------------------------
  // `around` stays where it is, or comes to the edge if it was not shown.
  zoom(factor, around) {
    const span = clamp((this.to - this.from) * factor, 20, here().end);
    const share = clamp((around - this.from) / (this.to - this.from), 0, 1);
    this.look(around - share * span, span);
  },

  // The times from one on; as many as before, or as are given.
  look(from, span = this.to - this.from) {
    this.from = clamp(from, 0, Math.max(0, here().end - span));
    this.to = this.from + span;
    this.drawBase();
    this.drawCursor();
  },
  show(time) { this.look(time - (this.to - this.from) / 2); },

  all() { this.look(0, here().end); },

  barAt(x, y) {
    return this.bars.find(b => y >= b.y && y < b.y + TRACK && x >= this.x(b.start) - 2 &&
      x <= Math.max(this.x(b.end), this.x(b.start) + 2) + 2);
  },

  choose(bar) {
    this.chosen = bar || null;
    this.drawBase();
    if (bar) move({ warp: bar.warp, step: bar.first }); else this.paint();
  },

  // The next in flight by its issue, from the chosen one or else from the first.
  chooseNext(by) {
    const bars = this.bars.slice().sort((a, b) => a.start - b.start);
    const at = clamp(bars.indexOf(this.chosen) + by, 0, bars.length - 1);
    if (bars.length) this.choose(bars[at]);
  },

  // The warp and its step there, or null.
  stepUnder(x, y) {
    const row = this.rows.find(r => y >= r.y - 1 && y < r.y + r.height + 2);
    if (!row || x < GUTTER) return null;
    const step = stepAt(here().warps[row.warp], Math.floor(this.timeAt(x)));
    return step < 0 ? null : { warp: row.warp, step };
  },

  // What a row has there, for whom its colour does not say it.
  stepText(x, y) {
    const under = this.stepUnder(x, y);
    if (!under) return '';
    const { phase, line } = here().ops[here().warps[under.warp].op[under.step]];
    return `warp ${under.warp}: ${PHASES[phase] || phase}${line ? `, line ${line}` : ''}`;
  },

  click(x, y) {
    const bar = this.barAt(x, y), under = this.stepUnder(x, y);
    if (bar) return this.choose(bar);
    if (!under) return;
    if (this.chosen) {
      this.chosen = null;
      this.drawBase();
    }
    move(under);
  },
};

// What all warps do between two times: instructions by phase, and the exponentials among them.
function between(start, end) {
  const counts = {}, launch = here();
  let exponentials = 0;
  for (const warp of launch.warps) {
    const { time, steps } = warp;
    for (let step = lowerBound(time, start, 0, steps); step < steps && time[step] <= end; step++) {
      const op = launch.ops[warp.op[step]];
      counts[op.phase] = (counts[op.phase] || 0) + 1;
      if (/^ex2/.test(op.text)) exponentials++;
    }
  }
  return { counts, exponentials };
}
