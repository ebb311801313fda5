// All of the block's shared memory at the cursor's time: who wrote each word last, what is in
// flight to it, who reads it beside the warps.

const WORD = 4, LINE_BYTES = 128, LINE_WORDS = 32;
const MAP_GUTTER = 56;
const STATES = {
  never: 'never written', landing: 'in flight', reading: 'being read', now: 'this step',
};

const memory = {
  events: [],    // writes, by the time they land: {issue, land, warp, step, ...}
  readers: [],   // by their start: {start, end, ...}
  launch: -1,

  // ---- What happens to shared memory ------------------------------------------------------------
  build() {
    const launch = here();
    this.launch = cursor.launch;
    this.words = launch.shared_bytes >> 2;
    this.state = new Int32Array(this.words);
    this.events = [];
    this.readers = [];
    const waits = this.copyWaits(launch);
    for (const [index, warp] of launch.warps.entries()) this.addStores(launch, index, warp, waits);
    for (const t of launch.transfers) this.addTransfer(launch, t);
    for (const p of launch.products) this.addProduct(launch, p);
    this.events.sort((a, b) => a.land - b.land);
    this.readers.sort((a, b) => a.start - b.start);
    this.index();
  },

  // For each word the events that write it, by the time they land; beside each of them that time,
  // and the first issue among it and those that land after it. For each reader the last end so far.
  index() {
    const { events, readers, words } = this;
    this.writes = gather(words, put => {
      for (const [index, event] of events.entries())
        this.eachWord(event, word => { if (word >= 0 && word < words) put(word, index); });
    });
    const { first, items } = this.writes;
    this.lands = Float64Array.from(items, index => events[index].land);
    this.issues = Float64Array.from(items, index => events[index].issue);
    for (let word = 0; word < words; word++)
      for (let i = first[word + 1] - 2; i >= first[word]; i--)
        this.issues[i] = Math.min(this.issues[i], this.issues[i + 1]);
    this.starts = readers.map(r => r.start);
    this.ends = readers.map(r => r.end);
    for (let i = 1; i < readers.length; i++)
      this.ends[i] = Math.max(this.ends[i], this.ends[i - 1]);
  },

  // The time at which each warp's cp.async of a step counts as landed.
  copyWaits(launch) {
    const flights = launch.warps.map(() => []);
    for (const f of launch.flights) if (f.kind === 'cp.async') flights[f.warp].push(f);
    return (warp, step) => {
      const f = flights[warp].find(flight => step >= flight.first && step <= flight.last);
      return f && f.wait >= 0 ? launch.warps[warp].time[f.wait] : launch.end;
    };
  },

  addStores(launch, index, warp, waits) {
    for (let i = 0; i < warp.requests; i++) {
      const step = warp.requestStep[i], { kind } = launch.ops[warp.op[step]];
      const f = launch.footprints[warp.footprint[i]];
      if (f.space !== 'shared') continue;
      const issue = warp.time[step];
      if (/^shared (store|atomic)|stmatrix/.test(kind))
        this.events.push({ issue, land: issue, warp: index, step, f, base: warp.base[i] });
      if (kind !== 'cp.async') continue;
      const source = requestsOf(warp, step).find(r => r !== i);
      this.events.push({
        issue, land: waits(index, step), warp: index, step, f, base: warp.base[i],
        from: source === undefined ? null
          : { f: launch.footprints[warp.footprint[source]], base: warp.base[source] },
      });
    }
  },

  addTransfer(launch, t) {
    if (t.step < 0) return; // in a round that was left out
    const warp = launch.warps[t.warp], issue = warp.time[t.step], flight = launch.flights[t.flight];
    if (t.stores) {
      const end = flight.wait >= 0 ? warp.time[flight.wait] : launch.end;
      this.readers.push({ start: issue, end, from: t.shared, bytes: t.bytes });
      return;
    }
    const phase = launch.mbarriers[flight.phase];
    const land = phase && phase.waits.length
      ? Math.min(...phase.waits.map(w => launch.warps[w.warp].time[w.step + 1] - 1)) : launch.end;
    this.events.push({ issue, land, warp: t.warp, step: t.step, transfer: t });
  },

  addProduct(launch, p) {
    if (p.step < 0) return;
    const warp = launch.warps[p.warp], flight = launch.flights[p.flight];
    const end = flight.wait >= 0 ? warp.time[flight.wait] : launch.end;
    for (const d of [p.a, p.b])
      if (d) this.readers.push({ start: warp.time[p.step], end, descriptor: d });
  },

  // Calls each(word index) for every word that an event writes.
  eachWord(event, each) {
    const base = here().shared_base;
    if (event.transfer) {
      const first = (event.transfer.shared - base) >> 2, count = event.transfer.bytes >> 2;
      for (let w = first; w < first + count; w++) each(w);
      return;
    }
    const { f } = event, span = Math.max(1, f.bytes >> 2);
    for (let lane = 0; lane < 32; lane++) {
      if (!(f.mask >>> lane & 1)) continue;
      const first = (event.base + f.distance[lane] - base) >> 2;
      for (let w = 0; w < span; w++) each(first + w);
    }
  },

  // The index of the event that flies to a word at a time, or else of the one that it holds; -1.
  stateOf(word, time) {
    const { first, items } = this.writes, low = first[word], end = first[word + 1];
    const landed = lowerBound(this.lands, time + 1, low, end);
    const issued = lowerBound(this.issues, time + 1, landed, end);
    return issued > low ? items[issued - 1] : -1;
  },

  // ---- Words ------------------------------------------------------------------------------------
  eventAt(address, time = timeHere()) {
    const word = (address - here().shared_base) >> 2;
    const index = word >= 0 && word < this.words ? this.stateOf(word, time) : -1;
    return index >= 0 ? this.events[index] : null;
  },

  // The element of a tensor that lies at a shared address; null if none was brought there.
  elementAt(address, time) {
    const event = this.eventAt(address, time);
    if (!event) return null;
    if (event.transfer) return this.transferred(event.transfer, address);
    if (!event.from) return elementStored(event, address);
    const lane = laneAt(event.f, event.base, address);
    if (lane < 0 || !(event.from.f.mask >>> lane & 1)) return null;
    const within = address - event.base - event.f.distance[lane];
    return element(here(), event.from.f.tensor,
      event.from.base + event.from.f.distance[lane] + within);
  },

  transferred(t, address) {
    const offset = address - t.shared;
    if (t.layout < 0) return element(here(), t.tensor, t.base + offset);
    const chunk = here().layouts[t.layout][offset >> 4];
    return chunk === null ? null : element(here(), t.tensor, t.base + chunk + offset % 16);
  },

  // What array a word belongs to: the tensor that it was copied from, or the array that its line
  // writes.
  nameOf(event) {
    if (event.name !== undefined) return event.name;
    const launch = here();
    if (event.transfer) event.name = element(launch, event.transfer.tensor, 0).name;
    else if (event.from) event.name = element(launch, event.from.f.tensor, 0).name;
    else {
      const { lines } = launch.ops[launch.warps[event.warp].op[event.step]];
      const names = lines.map(line => (launch.source[line - 1] || '').match(/\bs([A-Z]\w*)\b/));
      event.name = (names.find(Boolean) || ['', ''])[1];
    }
    return event.name;
  },

  // A sentence about an address.
  describe(address) {
    const launch = here(), offset = address - launch.shared_base;
    if (offset < 0 || offset >= launch.shared_bytes) return `${hex(address)}, outside`;
    const named = variableAt(launch, address), event = this.eventAt(address);
    const place = `byte ${grouped(offset)}${named ? `, ${named}` : ''}`;
    if (!event) return `${place}: never written`;
    const found = this.elementAt(address), name = found ? found.text : this.nameOf(event);
    const state = event.land > timeHere() ? 'in flight from' : 'written by';
    return `${place}${name ? ` = ${name}` : ''}: ${state} warp ${event.warp}, line ` +
      `${lineOf(event.warp, event.step)}`;
  },

  // ---- The map ----------------------------------------------------------------------------------
  layOut() {
    const box = document.getElementById('memory-body');
    const canvas = document.getElementById('memory-map');
    const lines = Math.ceil(here().shared_bytes / LINE_BYTES);
    const width = Math.max(200, box.clientWidth - 4), height = Math.max(160, box.clientHeight - 6);
    this.columns = 1;
    const rowHeight = columns => Math.floor(height / Math.ceil(lines / columns));
    while (this.columns < 4 && rowHeight(this.columns) < 3 &&
      width / (this.columns + 1) > MAP_GUTTER + 96) this.columns++;
    this.lines = Math.ceil(lines / this.columns);
    this.rowHeight = Math.min(height / this.lines, 14);
    this.columnWidth = Math.floor(width / this.columns);
    this.wordWidth = (this.columnWidth - MAP_GUTTER - 10) / LINE_WORDS;
    this.pixels = window.devicePixelRatio || 1;
    if (canvas.width === Math.floor(width * this.pixels) &&
      canvas.height === Math.floor(height * this.pixels)) return; // a new size costs a new canvas
    canvas.width = width * this.pixels;
    canvas.height = height * this.pixels;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  },

  // The place of a word on the map.
  placeOf(word) {
    const line = Math.floor(word / LINE_WORDS), column = Math.floor(line / this.lines);
    return {
      x: column * this.columnWidth + MAP_GUTTER + word % LINE_WORDS * this.wordWidth,
      y: line % this.lines * this.rowHeight,
    };
  },

  wordAt(x, y) {
    const column = Math.floor(x / this.columnWidth), line = Math.floor(y / this.rowHeight);
    const within = Math.floor((x - column * this.columnWidth - MAP_GUTTER) / this.wordWidth);
    if (within < 0 || within >= LINE_WORDS || line < 0 || line >= this.lines) return -1;
    const word = (column * this.lines + line) * LINE_WORDS + within;
    return word < this.words ? word : -1;
  },

  tint(name) {
    const known = { Q: 'memory-q', K: 'memory-k', V: 'memory-v', P: 'memory-p', S: 'memory-p',
      O: 'memory-o' };
    return known[name] || 'memory-other';
  },

  draw() {
    if (this.launch !== cursor.launch) this.build();
  },

  paint() {
    const canvas = document.getElementById('memory-map'), time = timeHere();
    if (!canvas.offsetParent) return;
    this.layOut();
    for (let word = 0; word < this.words; word++) this.state[word] = this.stateOf(word, time);
    const paper = canvas.getContext('2d');
    paper.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    paper.clearRect(0, 0, canvas.width, canvas.height);
    this.drawWords(paper);
    this.drawReaders(paper);
    this.drawStep(paper);
    this.drawNames(paper);
    this.drawNote();
  },

  // Words of one line with the same look are drawn at once.
  drawWords(paper) {
    const cache = {}, look = name => cache[name] || (cache[name] = colour(name));
    const height = Math.max(1, this.rowHeight - (this.rowHeight > 3 ? 1 : 0));
    const { state, words } = this;
    for (let from = 0; from < words;) {
      const kind = this.lookOf(state[from]);
      let to = from + 1;
      while (to % LINE_WORDS && to < words &&
        (state[to] === state[to - 1] || this.lookOf(state[to]) === kind)) to++;
      const { x, y } = this.placeOf(from), width = (to - from) * this.wordWidth;
      paper.fillStyle = look(kind.replace('~', ''));
      paper.globalAlpha = kind.startsWith('~') ? 0.35 : 1;
      paper.fillRect(x, y, width, height);
      paper.globalAlpha = 1;
      from = to;
    }
  },

  // The colour of a word that holds an event; ~ before it while that is in flight.
  lookOf(index) {
    if (index < 0) return 'memory-never';
    const event = this.events[index], tint = this.tint(this.nameOf(event));
    return event.land > timeHere() ? `~${tint}` : tint;
  },

  drawReaders(paper) {
    const base = here().shared_base, time = timeHere();
    paper.fillStyle = colour('reading');
    for (let i = lowerBound(this.starts, time + 1) - 1; i >= 0 && this.ends[i] >= time; i--) {
      const r = this.readers[i];
      if (r.end < time) continue;
      const chunks = r.descriptor
        ? here().layouts[r.descriptor.layout].map(o => r.descriptor.address + o)
        : Array.from({ length: r.bytes >> 4 }, (_, i) => r.from + 16 * i);
      for (const address of chunks) {
        const { x, y } = this.placeOf((address - base) >> 2);
        paper.fillRect(x, y + this.rowHeight * 0.3, 4 * this.wordWidth - 1,
          Math.max(1, this.rowHeight * 0.4));
      }
    }
  },

  // The bytes of the cursor's step, and of a race.
  drawStep(paper) {
    const warp = warpHere(), base = here().shared_base, { fault } = here();
    const mark = (address, bytes, tone) => {
      paper.fillStyle = colour(tone);
      for (let at = 0; at < Math.max(4, bytes); at += 4) {
        const { x, y } = this.placeOf((address + at - base) >> 2);
        paper.fillRect(x, y, this.wordWidth, Math.max(2, this.rowHeight));
      }
    };
    for (const i of requestsOf(warp, cursor.step)) {
      const f = here().footprints[warp.footprint[i]];
      if (f.space !== 'shared') continue;
      for (const lane of lanesOf(f.mask)) {
        const chosen = cursor.lane < 0 || cursor.lane === lane;
        if (chosen) mark(warp.base[i] + f.distance[lane], f.bytes, 'now');
      }
    }
    if (fault && fault.address) mark(fault.address, 4, 'bad');
  },

  // Beside the lines: where an array begins.
  drawNames(paper) {
    paper.font = `11px ${colour('sans')}`;
    paper.textBaseline = 'top';
    paper.textAlign = 'right';
    let last = null, lastY = -99;
    for (let line = 0; line * LINE_WORDS < this.words; line++) {
      const word = line * LINE_WORDS, index = this.state[word];
      const name = index >= 0 ? this.nameOf(this.events[index]) : '';
      const { x, y } = this.placeOf(word), top = line % this.lines === 0;
      if (top) lastY = -99;
      if (name === last && !top) continue;
      if (y - lastY < 12) continue;
      last = name;
      lastY = y;
      paper.fillStyle = colour('ink');
      paper.fillText(name || `${+(line * LINE_BYTES / 1024).toFixed(1)} KiB`, x - 6, y);
    }
  },

  drawNote() {
    let written = 0, landing = 0;
    for (const index of this.state) {
      if (index < 0) continue;
      if (this.events[index].land > timeHere()) landing++; else written++;
    }
    document.getElementById('memory-note').textContent = !this.words
      ? 'This kernel uses no shared memory.'
      : `${bytesText(here().shared_bytes)}, 128 bytes per row: ${bytesText(4 * written)} ` +
        `written, ${bytesText(4 * landing)} in flight. A click goes to the step that wrote a word.`;
  },

  click(event) {
    const word = this.wordAt(event.offsetX, event.offsetY);
    const found = word < 0 ? null : this.eventAt(here().shared_base + 4 * word);
    if (found) move({ warp: found.warp, step: found.step });
  },

  hover(event) {
    const word = this.wordAt(event.offsetX, event.offsetY);
    return word < 0 ? '' : this.describe(here().shared_base + 4 * word);
  },
};
