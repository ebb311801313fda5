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
  standing: [],

  build() {
    const launch = here(), lines = document.getElementById('lines');
    const total = [...launch.share.values()].reduce((sum, line) => sum + line.executions, 0);
    const differs = new Set(changed.lines);
    this.rows = launch.source.map((text, i) =>
      this.row(i + 1, text, launch.share.get(i + 1), total, differs.has(i + 1)));
    lines.replaceChildren(...this.rows);
    this.standing = [];
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
    bar.style.setProperty('--share', `${Math.min(100, share * 4).toFixed(1)}%`);
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
    const op = opHere(), row = this.rows[op.line - 1];
    if (row !== this.selected) {
      for (const other of document.querySelectorAll('#lines .selected, #lines .caller'))
        other.classList.remove('selected', 'caller');
      if (row) row.classList.add('selected');
      this.selected = row;
      if (row) keepInView(document.getElementById('lines'), row);
    }
    for (const line of op.lines)
      if (line !== op.line && this.rows[line - 1]) this.rows[line - 1].classList.add('caller');
    this.drawMachine(op);
  },

  // Which warps are at which line, at the cursor's time.
  stand() {
    const at = new Map(), time = timeHere();
    for (const [index, warp] of here().warps.entries()) {
      const step = index === cursor.warp ? cursor.step : stepAt(warp, time);
      const { line } = here().ops[warp.op[step]];
      if (!at.has(line)) at.set(line, []);
      at.get(line).push(index);
    }
    for (const cell of this.standing) cell.replaceChildren();
    this.standing = [];
    for (const [line, warps] of at) {
      if (!this.rows[line - 1]) continue;
      const cell = this.rows[line - 1].children[3];
      cell.replaceChildren(make('b', warps.includes(cursor.warp) ? 'mine' : '', ranges(warps)));
      cell.title = `warps ${ranges(warps)}`;
      this.standing.push(cell);
    }
  },

  // The listing of a line stays while the cursor moves within it.
  drawMachine(op) {
    const key = `${cursor.launch} ${op.line}`, current = warpHere().op[cursor.step];
    const listed = () => document.querySelector(`#machine [data-op="${current}"]`);
    if (this.machine !== key || !listed()) this.listMachine(op, current);
    this.machine = key;
    for (const row of document.querySelectorAll('#machine .ptx.selected'))
      row.classList.remove('selected');
    listed().classList.add('selected');
    keepInView(listed().parentElement, listed());
  },

  listMachine(op, current) {
    const ops = here().ops.map((o, index) => ({ o, index })).filter(({ o }) => o.line === op.line);
    const at = Math.max(0, ops.findIndex(({ index }) => index === current));
    const from = clamp(at - MOST_MACHINE_ROWS / 2, 0, Math.max(0, ops.length - MOST_MACHINE_ROWS));
    const rows = ops.slice(from, from + MOST_MACHINE_ROWS).map(({ o, index }) => {
      const row = make('button', 'ptx');
      row.type = 'button';
      row.dataset.op = index;
      row.append(make('span', 'count', grouped(here().counters[index][0])),
        make('code', '', o.text));
      return row;
    });
    const ptx = make('div', 'listing', rows);
    const title = op.line ? `PTX of line ${op.line}` : 'PTX without a line';
    const columns = [make('section', '', [
      make('h3', '', `${title}: ${plural(ops.length, 'instruction')}`), ptx])];
    const code = sassOf(op.line);
    if (code) columns.push(make('section', '', [
      make('h3', '', `SASS: ${plural(code.length, 'instruction')}`), code.listing]));
    document.getElementById('machine').replaceChildren(...columns);
  },

  click(event) {
    const ptx = event.target.closest('[data-op]');
    const row = event.target.closest('[data-line]');
    if (ptx) {
      const wanted = here().ops[ptx.dataset.op];
      let step = findStep(cursor.warp, cursor.step, 1, op => op === wanted);
      if (step < 0) step = findStep(cursor.warp, -1, 1, op => op === wanted);
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
  const wanted = kernel.instructions.filter(i => line ? i.lines.includes(line) : !i.lines.length);
  const rows = wanted.slice(0, MOST_MACHINE_ROWS).map(i => make('div', 'sass', [
    make('span', 'control', i.control || ''), make('code', '', i.text)]));
  const listing = make('div', 'listing', rows);
  listing.title = sass.legend;
  return { length: wanted.length, listing };
}
