// Joins the parts: the head, the cursor, the kernel's lines, the tables, keys and clicks.

const cursor = { row: 0, span: 0 };
const rowHere = () => timeline.rows[cursor.row];
const markOf = (warp, span) => clock.marks[warp.mark[span]];
const markHere = () => markOf(rowHere().warp, cursor.span);

// ---- The head -----------------------------------------------------------------------------------

function costText() {
  if (simulated) return 'order and waits, not nanoseconds: an instruction counts 1';
  const { cost } = record;
  const times = `${record.plain.ms_median.toFixed(4)} ms, with stamps ` +
    `${run.ms_median.toFixed(4)} ms: they cost ${(100 * cost).toFixed(1)} %`;
  return cost > 0.1 ? `${times}, so the picture is distorted` : times;
}

function drawHead() {
  const beside = new Set(clock.warps.map(warp => warp.block)).size - 1;
  byId('title').textContent = run.name.replace(/^(\d+)_/, '$1 ').replace(/_/g, ' ');
  byId('facts').replaceChildren(
    make('span', '', run.device),
    make('span', '', `block ${grouped(clock.block)} (0 to ${grouped(clock.blocks - 1)})` +
      (beside ? `, and ${plural(beside, 'block')} beside it on SM ${clock.sm}` : '')),
    make('span', '', `d ${run.d}, ${run.dtype}, ${run.causal ? 'causal' : 'full'}, batch ` +
      `${run.batch}, ${run.heads} heads, ${run.seq_q} queries, ${run.seq_kv} keys`),
    make('span', '', `${grouped(clock.cycles)} ${unit}`));
  byId('cost').textContent = costText();
  byId('cost').classList.toggle('distorted', record.cost > 0.1);
  const full = clock.warps.filter(warp => warp.full).length;
  byId('full').hidden = !full;
  byId('full').textContent = `${plural(full, 'warp')} had more stamps than there was memory for: ` +
    'what came later is not shown';
  const used = new Set(clock.marks.map(mark => mark.label));
  byId('legend').replaceChildren(...Object.keys(LABELS).filter(label => used.has(label))
    .map(label => {
      const item = make('li', '', textOf(label));
      item.style.setProperty('--tint', `var(--${tintOf(label)})`);
      return item;
    }));
}

// ---- The kernel's lines -------------------------------------------------------------------------

const lineRows = [];

function drawLines() {
  const shares = new Map();
  for (const warps of rolesOf(clock).values())
    for (const row of byMark(clock, warps))
      shares.set(row.line, [...(shares.get(row.line) || []), percent(row.share)]);
  byId('lines').style.setProperty('--roles', Math.max(1, ...[...shares.values()]
    .map(list => list.length)));
  const tints = new Map(clock.marks.filter(mark => mark.label !== 'end')
    .map(mark => [mark.line, tintOf(mark.label)]));
  byId('lines').replaceChildren(...kernel.lines.map((text, i) => {
    const line = i + 1, row = make('div', 'row clock-row', [
      make('span', 'share-text', (shares.get(line) || []).join(' · ')),
      make('span', 'number', String(line)), make('code', 'text', coloured(text))]);
    row.dataset.line = line;
    if (tints.has(line)) {
      row.classList.add('marked', 'runs');
      row.style.setProperty('--tint', `var(--${tints.get(line)})`);
    }
    lineRows[line] = row;
    return row;
  }));
}

// ---- The tables ---------------------------------------------------------------------------------

function shareCell(share, label) {
  const cell = make('td', 'share-cell', share ? percent(share) : '');
  cell.style.setProperty('--tint', `var(--${tintOf(label)})`);
  cell.style.setProperty('--share', `${100 * share}%`);
  return cell;
}

function headRow(names) {
  const row = make('tr', '', names.map(name => make('th', '', name)));
  return make('thead', '', [row]);
}

// Shares of time by label, a column a role; beside the clock of a GPU, the simulator's order.
function labelTable() {
  const columns = [...rolesOf(clock)].map(([role, warps]) => [role, sumOf(clock, warps)]);
  if (order) {
    const other = openRecord(order);
    for (const [role, warps] of rolesOf(other))
      columns.push([`${role}, in the simulator's order`, sumOf(other, warps)]);
  }
  const labels = Object.keys(LABELS).filter(label => columns.some(([, sum]) => sum.time[label]));
  const body = make('tbody', '', labels.map(label => make('tr', '', [
    make('th', '', textOf(label)),
    ...columns.map(([, sum]) => shareCell(shareOf(sum, label), label))])));
  const whole = make('table', 'shares', [headRow(['', ...columns.map(([role]) => role)]), body]);
  whole.id = 'by-label';
  return whole;
}

function markTable(warps) {
  const rows = byMark(clock, warps).map(row => {
    const line = make('button', 'go', `line ${row.line}`);
    line.type = 'button';
    line.dataset.mark = row.mark;
    line.dataset.role = warps[0].role;
    return make('tr', '', [make('th', '', [line]), make('td', '', textOf(row.label)),
      make('td', 'count', grouped(row.count)), make('td', 'count', grouped(row.median)),
      shareCell(row.share, row.label),
      make('td', 'piece', (kernel.lines[row.line - 1] || '').trim())]);
  });
  return make('table', 'shares', [headRow(['', 'does', 'times', `${unit}, median`, 'of its time',
    'the line where it begins']), make('tbody', '', rows)]);
}

function drawTables() {
  byId('findings').replaceChildren(...findings(clock).map(text => make('li', '', text)));
  byId('tables').replaceChildren(
    make('h3', '', 'What the warps of the block do with their time'), labelTable(),
    ...[...rolesOf(clock)].flatMap(([role, warps]) => [
      make('h3', '', `${role}, ${plural(warps.length, 'warp')}`), markTable(warps)]));
}

// ---- The cursor ---------------------------------------------------------------------------------

function drawWhere() {
  const { warp } = rowHere(), { label, line } = markHere();
  const [start, end] = [warp.time[cursor.span], warp.time[cursor.span + 1]];
  byId('where').replaceChildren(
    make('b', '', `block ${warp.block}, warp ${warp.warp}`), ' · ', make('b', '', textOf(label)),
    ` · ${grouped(end - start)} ${unit} from ${grouped(start)} · line ${line}`);
  byId('instruction').textContent = (kernel.lines[line - 1] || '').trim();
  const chosen = document.querySelector('#lines .selected');
  if (chosen) chosen.classList.remove('selected');
  if (!lineRows[line]) return;
  lineRows[line].classList.add('selected');
  keepInView(byId('lines'), lineRows[line]);
}

function move(to) {
  Object.assign(cursor, to);
  cursor.row = clamp(cursor.row, 0, timeline.rows.length - 1);
  const { warp } = rowHere();
  cursor.span = clamp(cursor.span, 0, warp.spans - 1);
  timeline.reveal(warp.time[cursor.span], warp.time[cursor.span + 1]);
  timeline.drawCursor();
  drawWhere();
}

function moveRow(by) {
  const time = rowHere().warp.time[cursor.span];
  const row = clamp(cursor.row + by, 0, timeline.rows.length - 1);
  move({ row, span: spanAt(timeline.rows[row].warp, time) });
}

// The next span (by -1: the last) with a wanted mark in the cursor's row, round its ends; false if
// there is none.
function moveTo(wanted, by = 1) {
  const { warp } = rowHere();
  for (let n = 1; n <= warp.spans; n++) {
    const span = (cursor.span + by * n + n * warp.spans) % warp.spans;
    if (!wanted(warp.mark[span])) continue;
    move({ span });
    return true;
  }
  return false;
}

// The next span that begins at a line, in this row, else in any.
function moveToLine(line) {
  const wanted = mark => clock.marks[mark].line === line;
  if (moveTo(wanted)) return;
  const row = timeline.rows.findIndex(({ warp }) => warp.mark.some(wanted));
  if (row >= 0) move({ row, span: timeline.rows[row].warp.mark.findIndex(wanted) });
}

const moveSame = by => moveTo(mark => mark === rowHere().warp.mark[cursor.span], by);

const middle = () => {
  const { warp } = rowHere();
  return (warp.time[cursor.span] + warp.time[cursor.span + 1]) / 2;
};
const KEYS = {
  ArrowLeft: () => move({ span: cursor.span - 1 }),
  ArrowRight: () => move({ span: cursor.span + 1 }),
  ArrowUp: () => moveRow(-1), ArrowDown: () => moveRow(1),
  n: () => moveSame(1), p: () => moveSame(-1),
  '+': () => timeline.zoom(0.5, middle()), '=': () => timeline.zoom(0.5, middle()),
  '-': () => timeline.zoom(2, middle()), 0: () => timeline.all(),
  '?': () => byId('keys').showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open || !KEYS[event.key])
    return;
  event.preventDefault();
  KEYS[event.key]();
}

// ---- Clicks -------------------------------------------------------------------------------------

function place(event) {
  const box = byId('time-cursor').getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function onTracks(event) {
  const [x, y] = place(event), bar = timeline.barAt(x, y), row = timeline.rowAt(y);
  if (bar)
    move({ row: timeline.rows.findIndex(r => r.warp === bar.warp), span: bar.first });
  else if (row >= 0 && x >= GUTTER)
    move({ row, span: spanAt(timeline.rows[row].warp, timeline.timeAt(x)) });
}

function tipAt(x, y) {
  const bar = timeline.barAt(x, y), row = timeline.rows[timeline.rowAt(y)];
  if (bar) return `wgmma of ${textOf(bar.label)}, ${bar.warp.role}: in flight for ` +
    `${grouped(bar.end - bar.start)} ${unit}`;
  if (!row || x < GUTTER) return '';
  const time = timeline.timeAt(x), { warp } = row;
  if (time < warp.time[0] || time > warp.time[warp.spans]) return '';
  const span = spanAt(warp, time), { label, line } = markOf(warp, span);
  return `warp ${warp.warp}: ${textOf(label)}, ` +
    `${grouped(warp.time[span + 1] - warp.time[span])} ${unit}, line ${line}`;
}

function onMove(event) {
  const [x, y] = place(event), text = tipAt(x, y), tip = byId('tip');
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 330)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

// The wheel alone scrolls, as everywhere.
function onWheel(event) {
  if (!event.ctrlKey && !event.shiftKey) return;
  event.preventDefault();
  const span = timeline.to - timeline.from;
  if (event.shiftKey)
    timeline.look(timeline.from + span * (event.deltaX || event.deltaY) / 1000, span);
  else timeline.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeline.timeAt(place(event)[0]));
}

function redraw() {
  timeline.drawBase();
  timeline.drawCursor();
}

function listen() {
  document.addEventListener('keydown', onKey);
  const tracks = byId('time-cursor');
  tracks.addEventListener('click', onTracks);
  tracks.addEventListener('mousemove', onMove);
  tracks.addEventListener('mouseleave', () => { byId('tip').hidden = true; });
  tracks.addEventListener('wheel', onWheel, { passive: false });
  byId('help').addEventListener('click', () => byId('keys').showModal());
  for (const button of document.querySelectorAll('[data-key]'))
    button.addEventListener('click', () => KEYS[button.dataset.key]());
  byId('lines').addEventListener('click', event => {
    const row = event.target.closest('.row');
    if (row) moveToLine(Number(row.dataset.line));
  });
  byId('tables').addEventListener('click', event => {
    const { mark, role } = event.target.dataset;
    if (mark === undefined) return;
    if (rowHere().warp.role !== role || rowHere().warp.block !== clock.block)
      cursor.row = timeline.rows.findIndex(r => r.warp.role === role);
    moveTo(wanted => wanted === Number(mark));
  });
  addEventListener('resize', () => { timeline.build(); timeline.resize(); });
  addEventListener('theme', redraw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', () => {
    byId('print').replaceChildren(timelineSvg(1000));
  });
}

// ---- Where the page opens -----------------------------------------------------------------------

// A part in which one can tell the spans: about sixty of the first warp, from the block's middle.
function openingPart() {
  const { time, spans } = timeline.rows[0].warp, most = 60;
  if (spans <= most) return [0, clock.cycles];
  const first = Math.floor((spans - most) / 2);
  return [time[first], time[first + most]];
}

// #from=1000&to=9000 shows that part, as far as the block has it; #line=412 goes to that line.
function followHash() {
  const hash = new URLSearchParams(location.hash.slice(1)), { from: start, to: end } = timeline;
  if (hash.has('theme')) setTheme(hash.get('theme'));
  const from = clamp(numberIn(hash, 'from', start), 0, clock.cycles);
  const to = clamp(numberIn(hash, 'to', from + end - start), 0, clock.cycles);
  if ((from !== start || to !== end) && to - from >= 20) {
    move({ row: 0, span: spanAt(timeline.rows[0].warp, (from + to) / 2) });
    timeline.look(from, to - from);
  }
  if (numberIn(hash, 'line', 0)) moveToLine(numberIn(hash, 'line', 0));
}

function start() {
  timeline.build();
  [timeline.from, timeline.to] = openingPart();
  drawHead();
  drawLines();
  drawTables();
  timeline.resize();
  listen();
  move({ row: 0, span: spanAt(timeline.rows[0].warp, (timeline.from + timeline.to) / 2) });
  followHash();
  addEventListener('hashchange', followHash);
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has('picture')) leave('picture', clockPicture());
  if (given.has('test')) testPage().then(tap => leave('tap', tap));
}

// What a headless browser reads from the document.
function leave(id, text) {
  const node = make('pre', '', text);
  node.id = id;
  document.body.append(node);
}

// ---- A picture for a text -----------------------------------------------------------------------

// A file of its own: the part that is shown and the warps that are there, with a title and the
// legend above it.
function clockPicture() {
  timeline.build(({ time, spans }) => time[0] < timeline.to && time[spans] > timeline.from);
  const used = new Set(clock.marks.map(mark => mark.label));
  const labels = Object.keys(LABELS).filter(label => used.has(label));
  const { width, top } = PICTURE, inner = shape('g', { transform: `translate(0 ${top})` });
  inner.append(...timelineSvg(width).childNodes);
  const whole = drawing(width, timeline.height + top, 'Timeline: what each warp does when');
  whole.removeAttribute('style');
  whole.setAttribute('font-size', 11);
  whole.append(
    shape('style', {}, palette([...labels.map(tintOf), 'gap', 'ink', 'faint', 'paper'])),
    shape('rect', { width, height: timeline.height + top, fill: 'var(--paper)' }),
    shape('text', { x: 10, y: 17, style: 'fill:var(--ink);font-weight:700' },
      `${byId('title').textContent}: block ${clock.block} of ${clock.blocks}, d ${run.d}, ` +
      `${run.seq_q} queries, ${run.seq_kv} keys`),
    shape('text', { x: width - 10, y: 17, 'text-anchor': 'end', style: 'fill:var(--faint)' },
      simulated ? 'order and waits, not nanoseconds' : `${run.device}, by the clock of an SM`));
  let x = 10;
  for (const label of labels) {
    whole.append(
      shape('rect', { x, y: 26, width: 11, height: 11, rx: 2, fill: `var(--${tintOf(label)})` }),
      shape('text', { x: x + 16, y: 36, style: 'fill:var(--ink)' }, textOf(label)));
    x += 30 + CHARACTER * textOf(label).length;
  }
  whole.append(inner);
  timeline.build();
  return new XMLSerializer().serializeToString(whole).replace(/(<(path|text|rect|g|style)\b)/g,
    '\n$1');
}

start();
