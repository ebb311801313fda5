// The code: the kernel's source with its counters, where each warp is, and what a line became.

const changed = data('changed'), sass = data('sass');
const MOST_MACHINE_ROWS = 120;

// 0, 1, 2, 5 as "0–2 5".
function ranges(numbers) {
  const parts = [];
  for (let i = 0; i < numbers.length; i++) {
    let last = i;
    while (numbers[last + 1] === numbers[last] + 1) last++;
    parts.push(last > i ? `${numbers[i]}–${numbers[last]}` : `${numbers[i]}`);
    i = last;
  }
  return parts.join(' ');
}

const codeView = {
  rows: [],
  selected: null,
  marked: [],          // the rows of the cursor's line and of the calls that led there
  standing: new Map(), // by line: the warps that are there, as text
  listed: new Map(),   // by instruction: its row in the listing

  build() {
    const launch = here(), lines = document.getElementById('lines');
    const total = [...launch.share.values()].reduce((sum, line) => sum + line.executions, 0);
    const differs = new Set(changed.lines);
    this.most = Math.max(...[...launch.share.values()].map(line => line.executions));
    this.rows = launch.source.map((text, i) =>
      this.row(i + 1, text, launch.share.get(i + 1), total, differs.has(i + 1)));
    lines.replaceChildren(...this.rows);
    this.standing = new Map();
    this.marked = [];
    this.selected = null;
    const note = document.getElementById('code-note'), blind = launch.ops.every(op => !op.line);
    document.getElementById('code').classList.toggle('no-lines', blind);
    note.textContent = blind
      ? 'built without -lineinfo: no line is known'
      : changed.previous ? `marked: what ${changed.previous} does not have` : '';
  },

  row(number, text, counts, total, differs) {
    const row = make('div', 'row');
    row.dataset.line = number;
    const share = counts ? 100 * counts.executions / total : 0;
    const bar = make('span', 'share', share >= 0.05 ? share.toFixed(1) : counts ? '·' : '');
    if (counts) bar.style.setProperty('--share', barLength(counts, this.most));
    const waves = counts ? overIdeal(counts.wavefronts, counts.idealWavefronts) : '';
    const sectors = counts ? overIdeal(counts.sectors, counts.idealSectors) : '';
    row.append(bar,
      make('span', waves.endsWith('×') ? 'over' : 'ideal', waves),
      make('span', sectors.endsWith('×') ? 'over' : 'ideal', sectors),
      make('span', 'standing'), make('span', 'number', String(number)),
      make('code', 'text', coloured(text)));
    row.classList.toggle('runs', Boolean(counts));
    row.classList.toggle('differs', differs);
    return row;
  },

  draw(before) {
    if (before.launch !== cursor.launch || !this.rows.length) this.build();
    this.stand();
    this.mark(opHere());
    this.drawMachine(opHere());
  },

  paint() {
    const row = this.listed.get(warpHere().op[cursor.step]);
    if (this.turned && this.selected) keepInView(document.getElementById('lines'), this.selected);
    keepInView(row.parentElement, row);
  },

  mark(op) {
    const row = this.rows[op.line - 1];
    const callers = op.lines.map(line => this.rows[line - 1]).filter(r => r && r !== row);
    for (const other of this.marked) other.classList.remove('selected', 'caller');
    this.marked = row ? [row, ...callers] : callers;
    for (const caller of callers) caller.classList.add('caller');
    if (row) row.classList.add('selected');
    this.turned = row !== this.selected;
    this.selected = row;
  },

  // Which warps are at which line, at the cursor's time.
  stand() {
    const at = new Map(), time = timeHere();
    for (const [index, warp] of here().warps.entries()) {
      const step = index === cursor.warp ? cursor.step : stepAt(warp, time);
      if (step >= 0) addTo(at, here().ops[warp.op[step]].line, index);
    }
    const before = this.standing;
    this.standing = new Map([...at].filter(([line]) => this.rows[line - 1]).map(([line, warps]) =>
      [line, { text: ranges(warps), mine: warps.includes(cursor.warp) }]));
    for (const line of before.keys())
      if (!this.standing.has(line)) this.rows[line - 1].children[3].replaceChildren();
    for (const [line, { text, mine }] of this.standing) {
      const last = before.get(line), cell = this.rows[line - 1].children[3];
      if (last && last.text === text && last.mine === mine) continue;
      const short = text.length > 8 ? `${text.slice(0, 7)}…` : text; // as much as the column holds
      cell.replaceChildren(make('b', mine ? 'mine' : '', short));
      cell.title = `warps ${text}`;
    }
  },

  // The listing of a line stays while the cursor moves within it.
  drawMachine(op) {
    const key = `${cursor.launch} ${op.line}`, current = warpHere().op[cursor.step];
    if (this.machine !== key || !this.listed.has(current)) this.listMachine(op, current);
    this.machine = key;
    if (this.executed) {
      this.executed.classList.remove('selected');
      this.executed.tabIndex = -1;
    }
    this.executed = this.listed.get(current);
    this.executed.classList.add('selected');
    this.executed.tabIndex = 0; // one stop of the Tab key, whatever the length
  },

  listMachine(op, current) {
    const ops = here().opsOf.at.get(op.line), at = ops.indexOf(current);
    const from = clamp(at - MOST_MACHINE_ROWS / 2, 0, Math.max(0, ops.length - MOST_MACHINE_ROWS));
    const shown = ops.slice(from, from + MOST_MACHINE_ROWS), rows = shown.map(index => {
      const row = make('button', 'ptx');
      row.type = 'button';
      row.tabIndex = -1;
      row.dataset.op = index;
      row.append(make('span', 'count', grouped(here().counters[index][0])),
        make('code', '', here().ops[index].text));
      return row;
    });
    this.listed = new Map(shown.map((index, i) => [index, rows[i]]));
    const ptx = make('div', 'listing', rows);
    const title = op.line ? `PTX of line ${op.line}` : 'PTX without a line';
    const columns = [make('section', '', [make('h3', 'listing-title', `${title}: ` +
      `${countText(ops.length, shown.length)}; executions in this block before each`), ptx])];
    const code = sassOf(op.line);
    if (code) columns.push(make('section', '', [make('h3', 'listing-title', `SASS: ` +
      `${countText(code.length, code.shown)}; its control bits before each`), code.listing]));
    document.getElementById('machine').replaceChildren(...columns);
  },

  click(event) {
    const ptx = event.target.closest('[data-op]');
    const row = event.target.closest('[data-line]');
    if (ptx) {
      const step = stepOnward(cursor.warp, [Number(ptx.dataset.op)]);
      if (step >= 0) move({ step });
    } else if (row) {
      moveToLine(Number(row.dataset.line));
    }
  },
};

// The machine code of a line: which instructions, and a listing of them. null where none is known.
function sassOf(line) {
  const kernel = sass && sass.kernels.find(k => k.name === here().kernel);
  if (!kernel) return null;
  if (!kernel.byLine) {
    kernel.byLine = new Map();
    for (const i of kernel.instructions)
      for (const from of i.lines.length ? new Set(i.lines) : [0]) addTo(kernel.byLine, from, i);
  }
  const wanted = kernel.byLine.get(line) || [];
  const rows = wanted.slice(0, MOST_MACHINE_ROWS).map(i => make('div', 'sass', [
    make('span', 'control', i.control || ''), make('code', '', i.text)]));
  const listing = make('div', 'listing', rows);
  listing.title = sass.legend;
  return { length: wanted.length, shown: rows.length, listing };
}

function countText(all, shown) {
  return plural(all, 'instruction') + (shown < all ? `, of which ${shown} are shown` : '');
}
