// Two kernels beside each other: aligned sources with counters in the margins, the PTX and SASS of
// a line on a click.

const FOLD_FROM = 12, FOLD_KEEP = 3; // equal lines: fold so many, keep so many at each end

// One side: its source, the counters and instructions by line, its machine code.
function openSide(id) {
  const raw = data(id);
  const side = { ...raw.run, sass: raw.sass, source: [], lines: new Map(), ptx: new Map() };
  for (const launch of raw.record.launches) {
    side.source = launch.source;
    for (const [i, [text, cls, line]] of launch.ops.entries()) {
      const counters = launch.run_counters[i];
      addToLine(side.lines, { line, kind: launch.classes[cls] }, counters);
      if (!side.ptx.has(line)) side.ptx.set(line, []);
      side.ptx.get(line).push({ text, executions: counters[0] });
    }
  }
  side.total = [...side.lines.values()].reduce((sum, line) => sum + line.executions, 0);
  side.most = Math.max(...[...side.lines.values()].map(line => line.executions));
  side.title = raw.file || side.name.replace(/^(\d+)_/, '$1 ').replace(/_/g, ' ');
  return side;
}

const from = openSide('from'), to = openSide('to');
const rows = align(from.source, to.source);
const faulted = document.querySelector('.fault') !== null; // part of a run has no ratio to a whole
let folded = true;

// ---- Head ---------------------------------------------------------------------------------------

const SUMS = [
  ['warp_instructions', 'instructions'], ['mma_instructions', 'tensor-core instructions'],
  ['barriers', 'barriers'], ['global_load_units', 'global load sectors'],
  ['global_store_units', 'global store sectors'], ['shared_load_units', 'shared load wavefronts'],
  ['shared_store_units', 'shared store wavefronts'],
];

function ratioText(before, after) {
  if (faulted) return '';
  if (before === after) return '=';
  if (!before || !after) return before ? 'gone' : 'new';
  const times = Math.max(after / before, before / after);
  const text = times < 100 ? times.toPrecision(3) : grouped(Math.round(times));
  return `${after > before ? '×' : '÷'} ${text}`;
}

function drawSums() {
  const present = SUMS.filter(([key]) => from.counters[key] || to.counters[key]);
  const cards = present.map(([key, name]) => {
    const before = from.counters[key], after = to.counters[key];
    const counts = key !== 'mma_instructions'; // more of a new thing is no fault
    const judged = !faulted && before && after && counts;
    const tone = !judged || before === after ? '' : after < before ? 'good' : 'bad';
    return make('div', 'sum', [make('span', 'name', name),
      make('span', 'values', `${grouped(before)} → ${grouped(after)}`),
      make('b', tone, ratioText(before, after))]);
  });
  byId('sums').replaceChildren(...cards);
}

function drawHead() {
  byId('title').textContent = `${from.title} → ${to.title}`;
  const count = kind => rows.filter(row => row.kind === kind).length;
  const moved = count('moved') / 2;
  byId('facts').replaceChildren(...[
    `${plural(count('added') + count('changed') + count('replaced'), 'line')} added`,
    `${count('cut') + count('changed') + count('replaced')} removed`, moved ? `${moved} moved` : '',
    `d ${to.d}, ${to.dtype}, ${to.causal ? 'causal' : 'full'}`,
    `${to.batch} × ${to.heads} heads, ${to.seq_q} queries, ${to.seq_kv} keys`,
  ].filter(Boolean).map(text => make('span', '', text)));
  byId('columns').replaceChildren(...[from, to].flatMap(side => [
    ...['%', 'waves', 'sect.', ''].map(text => make('span', 'gutter', text)),
    make('b', '', side.title)]));
}

// ---- Rows ---------------------------------------------------------------------------------------

const timesIdeal = counts => counts
  ? [overIdeal(counts.wavefronts, counts.idealWavefronts),
    overIdeal(counts.sectors, counts.idealSectors)] : ['', ''];

// Whether both sides have the same text and, but for the share, the same margin: only such rows are
// folded.
function equal(row) {
  return row.kind === 'same' && String(timesIdeal(from.lines.get(row.left + 1))) ===
    String(timesIdeal(to.lines.get(row.right + 1)));
}

function marginOf(side, line) {
  const counts = side.lines.get(line + 1);
  const share = counts ? 100 * counts.executions / side.total : 0;
  const bar = make('span', 'share', share >= 0.05 ? share.toFixed(1) : counts ? '·' : '');
  if (counts) bar.style.setProperty('--share', barLength(counts, side.most));
  if (counts) bar.title = plural(counts.executions, 'instruction');
  const [waves, sectors] = timesIdeal(counts);
  const cells = [[waves, 'wavefronts'], [sectors, 'sectors']].map(([text, what]) => {
    const cell = make('span', text.endsWith('×') ? 'over' : 'ideal', text);
    if (text) cell.title = `${grouped(counts[what])} ${what}`;
    return cell;
  });
  return [bar, ...cells];
}

// A line in colours; words that the other side lacks are marked.
function withMarks(line, parts) {
  const lacks = parts.flatMap(({ text, shared }) =>
    Array(text.length).fill(!shared && text.trim() !== ''));
  let at = 0;
  const runs = text => {
    const nodes = [];
    for (let end = at + text.length, from = at; at < end; from = at) {
      while (at < end && lacks[at] === lacks[from]) at++;
      const run = line.slice(from, at);
      nodes.push(lacks[from] ? make('mark', '', run) : run);
    }
    return nodes;
  };
  return coloured(line).flatMap(part => typeof part === 'string' ? runs(part)
    : make('span', part.className, runs(part.textContent)));
}

function textOf(row, side, index, parts) {
  const text = make('code', 'text');
  if (index < 0) return text;
  const line = side.source[index];
  text.append(...row.kind === 'changed' ? withMarks(line, parts) : coloured(line));
  if (row.kind === 'moved') {
    const where = make('button', 'go', row.left >= 0 ? `moved to ${row.elsewhere + 1}`
      : `moved from ${row.elsewhere + 1}`);
    where.type = 'button';
    where.dataset.elsewhere = row.elsewhere;
    where.dataset.side = row.left >= 0 ? 'right' : 'left';
    text.append(' ', where);
  }
  return text;
}

function rowNode(row, index) {
  const node = make('div', `pair-row ${row.kind}`);
  if (row.kind === 'same' && !equal(row)) node.classList.add('counted');
  node.dataset.row = index;
  const parts = row.kind === 'changed'
    ? compareWords(from.source[row.left], to.source[row.right]) : [];
  for (const [side, at, which] of [[from, row.left, 0], [to, row.right, 1]]) {
    const half = make('div', at < 0 ? 'half none' : `half ${which ? 'right' : 'left'}`);
    if (at >= 0) half.append(...marginOf(side, at), make('span', 'number', String(at + 1)),
      textOf(row, side, at, parts[which]));
    node.append(half);
  }
  return node;
}

// Long stretches of equal lines become one row that opens on a click.
function drawRows() {
  const nodes = [];
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && equal(rows[end])) end++;
    const keepBefore = i ? FOLD_KEEP : 0, keepAfter = end < rows.length ? FOLD_KEEP : 0;
    if (folded && end - i > FOLD_FROM) {
      for (let n = i; n < i + keepBefore; n++) nodes.push(rowNode(rows[n], n));
      const hidden = end - i - keepBefore - keepAfter;
      const open = make('button', 'folded', `${hidden} equal lines`);
      open.type = 'button';
      open.dataset.from = i + keepBefore;
      open.dataset.to = end - keepAfter;
      nodes.push(open);
      for (let n = end - keepAfter; n < end; n++) nodes.push(rowNode(rows[n], n));
      i = end;
    } else {
      const last = Math.max(end, i + 1);
      for (; i < last; i++) nodes.push(rowNode(rows[i], i));
    }
  }
  byId('pair').replaceChildren(...nodes);
}

function unfold(button) {
  const nodes = [];
  for (let n = Number(button.dataset.from); n < Number(button.dataset.to); n++)
    nodes.push(rowNode(rows[n], n));
  button.replaceWith(...nodes);
}

// ---- Machine code of a row ----------------------------------------------------------------------

const MOST_LISTED = 400;

function listing(title, items, what) {
  const some = items.length > MOST_LISTED ? `, of which ${MOST_LISTED} are shown` : '';
  const head = `${title}: ${plural(items.length, 'instruction')}${some}; ${what}`;
  return make('section', '', [make('h3', 'listing-title', head),
    make('div', 'listing', items.length ? items.slice(0, MOST_LISTED)
      : [make('p', 'note', 'none')])]);
}

function machineOf(side, line) {
  if (line < 0) return make('div', 'machine', [make('p', 'note', 'no such line')]);
  const ptx = (side.ptx.get(line + 1) || []).map(({ text, executions }) =>
    make('div', 'ptx', [make('span', 'count', grouped(executions)), make('code', '', text)]));
  const code = side.sass ? side.sass.kernels.flatMap(k => k.instructions)
    .filter(i => i.lines.includes(line + 1)).map(i => make('div', 'sass', [
      make('span', 'control', i.control || ''), make('code', '', i.text)])) : [];
  const sassList = listing('SASS', code, 'its control bits before each');
  if (side.sass) sassList.title = side.sass.legend;
  return make('div', 'machine', [listing('PTX', ptx, 'executions in the run before each'),
    sassList]);
}

function openRow(node) {
  const open = node.nextElementSibling;
  for (const other of document.querySelectorAll('.machines, .pair-row.selected'))
    if (other.classList.contains('machines')) other.remove();
    else other.classList.remove('selected');
  if (open && open.classList.contains('machines')) return;
  const row = rows[node.dataset.row];
  node.classList.add('selected');
  const machines = make('div', 'machines', [machineOf(from, row.left), machineOf(to, row.right)]);
  node.after(machines);
  machines.scrollIntoView({ block: 'nearest' });
}

// ---- Moving -------------------------------------------------------------------------------------

// Where each group of changed lines begins.
const changes = rows.map((row, i) => i).filter(i => !equal(rows[i]) &&
  (i === 0 || equal(rows[i - 1])));

function markRow(node) {
  for (const other of document.querySelectorAll('.pair-row.here')) other.classList.remove('here');
  node.classList.add('here');
}

function showRow(index) {
  let node = document.querySelector(`[data-row="${index}"]`);
  if (!node) {
    const fold = [...document.querySelectorAll('.folded')]
      .find(f => index >= Number(f.dataset.from) && index < Number(f.dataset.to));
    if (fold) unfold(fold);
    node = document.querySelector(`[data-row="${index}"]`);
  }
  if (!node) return;
  markRow(node);
  node.scrollIntoView({ block: 'center' }); // of the list, or of a small window that has no list
}

function markedRow() {
  const node = document.querySelector('.pair-row.here');
  return node ? Number(node.dataset.row) : -1;
}

// The change after the marked line, or before it; the last or the first where there is none.
function showChange(by) {
  if (!changes.length) return;
  const at = markedRow(), ahead = by > 0 ? changes : changes.slice().reverse();
  const next = ahead.find(row => by > 0 ? row > at : row < at);
  showRow(next === undefined ? ahead[ahead.length - 1] : next);
}

// The line above or below; the first that is in view if none is marked.
function stepRow(by) {
  const nodes = [...document.querySelectorAll('.pair-row')];
  const at = nodes.findIndex(node => node.classList.contains('here'));
  const top = Math.max(0, byId('pair').getBoundingClientRect().top);
  const inView = nodes.findIndex(node => node.getBoundingClientRect().top >= top);
  const node = nodes[clamp(at < 0 ? inView : at + by, 0, nodes.length - 1)];
  markRow(node);
  node.scrollIntoView({ block: 'nearest' });
}

function openMarked() {
  const node = document.querySelector('.pair-row.here');
  if (node) openRow(node);
}

function toggleFold() {
  const marked = markedRow();
  folded = !folded;
  byId('fold').setAttribute('aria-pressed', String(folded));
  drawRows();
  if (marked >= 0) showRow(marked);
}

const KEYS = {
  'n': () => showChange(1), 'p': () => showChange(-1), 'f': toggleFold,
  'ArrowDown': () => stepRow(1), 'ArrowUp': () => stepRow(-1), 'Enter': openMarked,
  '?': () => byId('keys').showModal(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  if (event.key === 'Enter' && event.target.matches('a, button, summary')) return;
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
}

function clicked(event) {
  const fold = event.target.closest('.folded'), go = event.target.closest('[data-elsewhere]');
  const row = event.target.closest('.pair-row');
  if (fold) unfold(fold);
  else if (go) showRow(rows.findIndex(r => r[go.dataset.side] === Number(go.dataset.elsewhere)));
  else if (row) {
    markRow(row);
    openRow(row);
  }
}

document.addEventListener('keydown', pressed);
byId('pair').addEventListener('click', clicked);
byId('before').addEventListener('click', () => showChange(-1));
byId('after').addEventListener('click', () => showChange(1));
byId('fold').addEventListener('click', toggleFold);
byId('help').addEventListener('click', () => byId('keys').showModal());
const wanted = new URLSearchParams(location.hash.slice(1)).get('theme');
if (wanted) setTheme(wanted);
drawHead();
drawSums();
drawRows();
