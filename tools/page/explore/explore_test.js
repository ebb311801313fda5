// The page's own test: opened with #test it drives itself by real events and leaves TAP in the
// document; #test&work also counts and times what moves of the cursor do. What it expects is worked
// out here in its own way, from addresses and layouts.

const tap = { lines: [], count: 0, clicks: 0 };

function check(good, what, why = '') {
  tap.count++;
  tap.lines.push(`${good ? '' : 'not '}ok ${tap.count} - ${run.name}: ${what}`);
  if (!good && why !== '') tap.lines.push(`# ${why}`);
}

function click(node, place = {}) {
  tap.clicks++;
  for (const kind of ['pointerdown', 'pointerup', 'click'])
    node.dispatchEvent(new MouseEvent(kind, { bubbles: true, ...place }));
}

// A click at a point of a canvas.
function clickAt(canvas, x, y) {
  const box = canvas.getBoundingClientRect();
  click(canvas, { clientX: box.left + x, clientY: box.top + y });
}

const press = (key, more = {}) =>
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }));

// The number of the first source line with this text.
const lineWith = text => 1 + here().source.findIndex(line => line.includes(text));
const codeRow = line => document.querySelector(`#lines [data-line="${line}"]`);
const lanesText_ = () => byId('lanes-body').textContent;

function hasInk(canvas) {
  const { data: pixels } = canvas.getContext('2d')
    .getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += 4)
    if (pixels[i + 3]) seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  return seen.size > 2;
}

// ---- Every page ---------------------------------------------------------------------------------

function testOpening() {
  const row = codeView.executed, list = row.parentElement, top = row.offsetTop - list.scrollTop;
  check(top >= 0 && top + row.offsetHeight <= list.clientHeight, 'the PTX of the step is in view',
    `${top} of ${list.clientHeight}`);
  const { fault } = here();
  if (fault) check(!byId('fault').hidden && cursor.warp === fault.warp &&
    cursor.step === fault.step && codeRow(opHere().line).classList.contains('selected'),
  'the page opens at the fault', `${JSON.stringify(cursor)}, not step ${fault.step}`);
}

function testViews() {
  const launch = here();
  check(byId('lines').children.length === launch.source.length, 'every source line is shown');
  check(hasInk(byId('time-base')), 'the timeline is drawn');
  check(byId('time-base').offsetWidth === byId('tracks').clientWidth, 'as wide as there is room',
    `${byId('time-base').offsetWidth} of ${byId('tracks').clientWidth}`);
  check(document.querySelectorAll('#lanes-body figure').length > 0, 'the lanes are drawn');
  press('m');
  check(!launch.shared_bytes || hasInk(byId('memory-map')), 'shared memory is drawn');
  press('l');
  const shares = [...launch.share.values()].reduce((sum, line) => sum + line.executions, 0);
  check(shares === launch.steps + launch.cut, 'the lines have all steps',
    `${shares} of ${launch.steps}`);
  const [row] = timeline.rows, told = timeline.stepText(GUTTER + 30, row.y + 2);
  check(told.startsWith(`warp ${row.warp}: `), 'a row says in words what is there', told);
  check(document.querySelectorAll('#machine .ptx:not([tabindex="-1"])').length === 1,
    'the list of instructions is one stop of the Tab key');
}

function testKeys() {
  move({ warp: 0, step: 10, lane: -1 });
  press('ArrowRight');
  check(cursor.step === 11, 'right is the next step');
  press('ArrowLeft', { shiftKey: true });
  check(cursor.step === 1, 'left with shift is ten steps back');
  const line = opHere().line;
  press('n');
  check(!hasLines() || opHere().line !== line && cursor.step > 1, 'n is the next line');
  const time = timeHere();
  press('ArrowDown');
  check(cursor.warp === Math.min(1, begun().length - 1) && timeHere() <= Math.max(time, 0) + 1,
    'down is the next warp at the same time');
  press('ArrowUp');
  press(']');
  check(cursor.lane === 0, '] is the next lane');
  press('Escape');
  check(cursor.lane === -1, 'Escape leaves the lanes');
  const from = timeline.to - timeline.from;
  press('+');
  check(timeline.to - timeline.from < from, '+ zooms in');
  press('0');
  check(timeline.from === 0 && timeline.to === here().end, '0 shows the whole block');
  press('b');
  const starts = timeline.bars.map(bar => bar.start);
  check(!starts.length || timeline.chosen.start === Math.min(...starts) &&
    byId('instruction').textContent.includes('under it run'), 'b is the first in flight');
  press('Escape');
  const wheel = more => byId('time-cursor').dispatchEvent(
    new WheelEvent('wheel', { deltaY: -100, cancelable: true, ...more }));
  check(wheel() && timeline.to === here().end, 'the wheel alone scrolls');
  check(!wheel({ ctrlKey: true }) && timeline.to - timeline.from < here().end,
    'with Ctrl it zooms');
  press('0');
  const { left } = byId('time-cursor').getBoundingClientRect(), there = 0.75 * here().end;
  for (let i = 0; i < 20; i++) wheel({ ctrlKey: true, clientX: left + timeline.x(there) });
  check(timeline.from <= there && there <= timeline.to, 'at the pointer, wherever the cursor is',
    `${there} is not in ${timeline.from} to ${timeline.to}`);
  press('0');
}

// The rows of the warps that have a step: a fault leaves the later ones without.
const begun = () => timeline.rows.filter(row => here().warps[row.warp].steps);

// What a row without steps says, and where a click on it or its name in the address leads: nowhere.
function testNotBegun() {
  const row = timeline.rows.find(r => !begun().includes(r));
  if (!row) return;
  const place = JSON.stringify(cursor);
  clickAt(byId('time-cursor'), GUTTER + 30, row.y + row.height / 2);
  move({ warp: row.warp });
  check(JSON.stringify(cursor) === place && timeline.stepText(GUTTER + 30, row.y + 2) === '',
    'a warp without a step takes no cursor', JSON.stringify(cursor));
}

const hasLines = () => here().ops.some(op => op.line);

function clickBusiest(launch) {
  const busiest = [...launch.share.entries()].filter(([line]) => line > 0)
    .reduce((a, b) => b[1].executions > a[1].executions ? b : a)[0];
  click(codeRow(busiest).querySelector('.text'));
  check([opHere().line, ...opHere().lines].includes(busiest),
    'a click on a line goes to one of its steps');
  check(byId('where').textContent.includes(`line ${opHere().line}`), 'and says so');
  check(codeRow(opHere().line).classList.contains('selected'), 'and marks the line');
}

// A kernel built without -lineinfo: the source is there to read, and what the run gives is there.
function testWithoutLines() {
  check(byId('code-note').textContent.includes('without -lineinfo'),
    'the page says what is missing');
  check(here().source.length > 0 && byId('lines').children.length === here().source.length,
    'and has the source all the same');
  check(byId('where').textContent.includes('no line'), 'and names no line');
  check(timeline.bars.every(bar => bar.label !== '?'), 'copies have the names of their tensors',
    timeline.bars.map(bar => bar.label).join(' '));
  const before = cursor.step;
  click(codeRow(1).querySelector('.text'));
  check(cursor.step === before, 'a click on a line moves nothing');
}

// One cursor: a choice in one view moves the others.
function testOneCursor() {
  const launch = here();
  if (hasLines()) clickBusiest(launch);
  else click(byId('machine').querySelector('[data-op="3"]'));
  check(byId('machine').querySelector('.selected code').textContent === opHere().text,
    'and marks its PTX');
  const row = begun().at(-1);
  clickAt(byId('time-cursor'), timeline.x(launch.end / 3), row.y + row.height / 2);
  check(cursor.warp === row.warp, 'a click on the timeline goes to the warp');
  check(Math.abs(timeHere() - launch.end / 3) <= launch.end / 100 ||
    cursor.step === warpHere().steps - 1 || warpHere().time[cursor.step + 1] > launch.end / 3,
  'and to the time', `${timeHere()}, not ${launch.end / 3}`);
  if (!launch.shared_bytes) return;
  press('m');
  move({ warp: 0, step: launch.warps[0].steps - 1 });
  const { state } = memory, around = [-64, -32, 32, 64]; // a line may be less than a pixel high
  const word = state.findIndex((index, w) => index >= 0 &&
    around.every(n => state[w + n] === index));
  if (word >= 0) {
    const event = memory.events[state[word]], { x, y } = memory.placeOf(word);
    clickAt(byId('memory-map'), Math.ceil(x + 1), Math.ceil(y + memory.rowHeight / 4));
    check(cursor.warp === event.warp && cursor.step === event.step,
      'a click on a byte goes to the step that wrote it');
  }
  press('l');
}

// Lanes with one bank and one wavefront want one word: by their addresses.
function testBanks() {
  const launch = here();
  let wrong = 0;
  for (const warp of launch.warps)
    for (let i = 0; i < Math.min(warp.requests, 3000); i++) {
      const f = launch.footprints[warp.footprint[i]], seen = new Map();
      if (f.space !== 'shared') continue;
      for (const lane of lanesOf(f.mask)) {
        const word = (warp.base[i] + f.distance[lane]) >> 2;
        const key = `${word % 32} ${f.wavefront[lane]}`;
        if (f.bank[lane] !== word % 32 || (seen.has(key) && seen.get(key) !== word)) wrong++;
        seen.set(key, word);
      }
    }
  check(wrong === 0, 'banks are those of the addresses', `${wrong} are not`);
}

// Nobody goes on before the last arrival at what it waited for.
function testOrder() {
  const { warps, mbarriers, barriers } = here(), early = [];
  for (const phase of [...mbarriers, ...barriers])
    for (const wait of phase.waits)
      for (const a of phase.arrivals)
        if (warps[a.warp].time[a.step] >= warps[wait.warp].time[wait.step + 1])
          early.push(`warp ${wait.warp} step ${wait.step}`);
  check(!early.length, 'nobody goes on before what it waits for', early.slice(0, 5).join(', '));
}

// A word is what it was before a copy is issued, in flight until the wait, and then the copy's.
function testMemory() {
  const { events } = memory, { warps } = here();
  const index = events.findIndex(e => e.land > e.issue + 1 && e.step > 0 && e.warp === 0);
  if (index < 0) return;
  const event = events[index];
  let word = -1;
  memory.eachWord(event, w => { word = w; });
  const state = time => {
    move({ warp: 0, step: stepAt(warps[0], time) });
    if (memory.stateOf(word, timeHere()) !== index) return 'other';
    return event.land > timeHere() ? 'in flight' : 'there';
  };
  check(state(event.issue - 1) === 'other', 'before a copy is issued its bytes are what they were');
  check(state(event.issue) === 'in flight', 'then they are in flight');
  const landed = state(event.land);
  check(landed === 'there', 'and after the wait they are there', landed);
}

// ---- What a move costs --------------------------------------------------------------------------

// A place of each kind of instruction, because each kind has a view of its own: the first or the
// last that a warp executes, the warps in turn.
function placesOfKinds() {
  const { ops, warps } = here(), kinds = new Map(), places = [];
  for (const [index, op] of ops.entries()) addTo(kinds, op.kind, index);
  for (const list of kinds.values()) {
    const turn = places.length, from = turn % 2;
    const steps = warps.map(warp => nextStep(warp, from ? -1 : warp.steps, from ? 1 : -1, list));
    const order = [...steps.keys()].map(n => (turn + n) % warps.length);
    const warp = order.find(w => steps[w] >= 0);
    if (warp !== undefined) places.push({ warp, step: steps[warp] });
  }
  return places;
}

// And from there by a key or by a click.
const STEPS_ASIDE = [
  ...['ArrowRight', 'ArrowDown', 'ArrowUp', 'n', 'p'].map(key => () => press(key)),
  i => {
    const lines = document.querySelectorAll('#lines .row.runs');
    if (hasLines()) click(lines[i % lines.length].querySelector('.text'));
  },
  i => {
    const row = timeline.rows[cursor.warp];
    clickAt(byId('time-cursor'), timeline.x(here().end * (i % 5) / 5), row.y + row.height / 2);
  },
];

// Has the lists of an object count what is read of them: a method reads the whole list.
function countReads(holder, reads) {
  const kept = Object.entries(holder)
    .filter(([, list]) => Array.isArray(list) || ArrayBuffer.isView(list));
  for (const [name, list] of kept)
    holder[name] = new Proxy(list, { get(_, key) {
      const isMethod = typeof list[key] === 'function';
      reads.count += isMethod ? list.length : 1;
      return isMethod ? list[key].bind(list) : list[key];
    } });
  return () => Object.assign(holder, Object.fromEntries(kept));
}

// A move looks up what it shows: a warp of 60,000 steps costs it no more than one of 600. This is
// counted, because a count is the same on a busy machine, where a time says little. The most reads
// are those of a multiplication, which asks for the origins of what 32 lanes have in two registers.
const MOST_READS = 9000, MOST_ELEMENTS = 3000;
function testWork() {
  if (byId('memory-map').offsetParent) return; // the map reads what every word holds
  const launch = here(), reads = { count: 0 }, made = { count: 0 };
  const places = placesOfKinds();
  const holders = [launch, memory, memory.writes, ...launch.warps,
    ...launch.warps.map(warp => warp.stepsOf)];
  const restore = holders.map(holder => countReads(holder, reads));
  for (const name of ['createElement', 'createElementNS'])
    document[name] = (...what) => {
      made.count++;
      return Document.prototype[name].apply(document, what);
    };
  let mostReads = 0, mostMade = 0;
  const count = action => {
    reads.count = made.count = 0;
    action();
    mostReads = Math.max(mostReads, reads.count);
    mostMade = Math.max(mostMade, made.count);
  };
  for (const [i, place] of places.entries()) {
    count(() => move(place));
    count(() => STEPS_ASIDE[i % STEPS_ASIDE.length](i));
  }
  for (const name of ['createElement', 'createElementNS']) delete document[name];
  for (const undo of restore) undo();
  check(mostReads <= MOST_READS, 'a move searches no list of the record', `${mostReads} reads`);
  check(mostMade <= MOST_ELEMENTS, 'and makes no more elements than it shows', `${mostMade}`);
}

// In milliseconds of a processor that nobody else uses: known work before each move tells how much
// of it there is. If a time is too long, all moves are made up to twice more, and the quickest of
// each counts.
const LONG = 50, TOO_LONG = 200, KNOWN = 3; // ms
function doKnown() {
  const list = document.createElement('div');
  for (let n = 0; n < KNOWN * 2000; n++) list.append(document.createElement('span'));
}
function timeOf(action) {
  const start = performance.now();
  action();
  return performance.now() - start;
}
function testSpeed() {
  const places = placesOfKinds();
  let times = places.map(() => Infinity), median = Infinity, slowest = Infinity;
  for (let round = 0; round < 3 && (median >= LONG || slowest >= TOO_LONG); round++) {
    let spent = 0;
    const taken = places.map(place => {
      spent += timeOf(doKnown);
      return timeOf(() => move(place));
    });
    const share = KNOWN * places.length / spent;
    times = times.map((time, i) => Math.min(time, taken[i] * share));
    const sorted = [...times].sort((a, b) => a - b);
    [median, slowest] = [sorted[sorted.length >> 1], sorted.at(-1)];
  }
  check(median < LONG, 'half of the moves of the cursor take under 50 ms',
    `${median.toFixed(1)} ms`);
  check(slowest < TOO_LONG, 'and all of them under 200 ms', `${slowest.toFixed(1)} ms`);
}

// ---- Looks --------------------------------------------------------------------------------------

// Of a colour that is painted over another.
const paper = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
function luminance(text, ground = text, opacity = 1) {
  paper.globalAlpha = 1;
  paper.fillStyle = ground;
  paper.fillRect(0, 0, 1, 1);
  paper.globalAlpha = opacity;
  paper.fillStyle = text;
  paper.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...paper.getImageData(0, 0, 1, 1).data].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b, opacity) {
  const [low, high] = [luminance(colour(a), colour(b), opacity), luminance(colour(b))]
    .sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function testLooks() {
  for (const theme of ['light', 'dark']) {
    setTheme(theme);
    const pairs = [];
    for (const on of ['paper', 'panel', 'select', 'caller'])
      for (const text of ['ink', 'faint', 'comment', 'keyword', 'string', 'differs', 'bad'])
        pairs.push([text, on]);
    const idle = document.querySelector('#lines .row:not(.runs) .text');
    const { opacity } = idle ? getComputedStyle(idle) : { opacity: 1 };
    for (const on of ['paper', 'panel', 'caller'])
      for (const text of ['ink', 'comment', 'keyword', 'string']) pairs.push([text, on, opacity]);
    for (const on of ['lane-0', 'lane-1', 'lane-2', 'lane-3', 'lane-4', 'lane-5', 'lane-6',
      'lane-7', 'r0', 'r1', 'r2', 'r3']) pairs.push(['ink', on]);
    pairs.push(['bad', 'paper'], ['good', 'paper'], ['bad', 'bad-paper'], ['paper', 'accent'],
      ['paper', 'now']);
    const low = pairs.filter(pair => contrast(...pair) < 4.5);
    check(!low.length, `${theme}: text has a contrast of 4.5 and more`,
      low.map(pair => `${pair.join(' ')}: ${contrast(...pair).toFixed(2)}`).join(', '));
  }
  check(document.documentElement.scrollWidth <= innerWidth, 'nothing is wider than the window');
  press('m');
  const clipped = ['#head', '#timeline > .bar', '#code > .bar', '#cursor', '#memory > .bar']
    .filter(s => {
      const bar = document.querySelector(s);
      return bar.scrollWidth > bar.clientWidth + 1 || bar.scrollHeight > bar.clientHeight + 1;
    });
  check(!clipped.length, 'no bar is clipped', clipped.join(', '));
  press('l');
  const low = ['lines', 'machine', 'lanes-body'].filter(id => byId(id).clientHeight < 60);
  check(!low.length, 'every view has room', low.join(', '));
  const lost = [...document.querySelectorAll('button, select, [tabindex]')]
    .filter(node => node.offsetParent && (node.focus(), document.activeElement !== node));
  check(!lost.length, 'everything that acts takes the keyboard focus', `${lost.length} do not`);
}

// ---- The questions ------------------------------------------------------------------------------

function ask(question, answer) {
  timeline.all();
  timeline.choose(null);
  move({ launch: 0, warp: 0, step: 0, lane: -1 });
  tap.clicks = 0;
  answer();
  check(tap.clicks <= 3, `${question} (${plural(tap.clicks, 'click')})`);
}

// The lanes whose words are in the bank, by their addresses.
function lanesInBank(bank) {
  const i = requestsOf(warpHere(), cursor.step)[0], warp = warpHere();
  const f = here().footprints[warp.footprint[i]];
  return lanesOf(f.mask).filter(lane =>
    ((warp.base[i] + f.distance[lane]) >> 2) % 32 === bank).length;
}

function askBanks(conflicts) {
  ask('which lanes of the load of K meet in one bank', () => {
    click(codeRow(lineWith('load_floats(k[key], &sK[')).querySelector('.text'));
    const cells = document.querySelectorAll('#lanes-body figure:first-child .cell[data-lanes]');
    const figure = document.querySelector('#lanes-body figure');
    check(cells.length > 0 && figure.classList.contains(conflicts ? 'bad' : 'good'),
      conflicts ? 'the load of K has bank conflicts' : 'the load of K has none');
    const rows = new Set([...cells].map(c => c.querySelector('rect').getAttribute('y'))).size;
    const distinct = conflicts ? lanesInBank(0) / 2 : 4;
    check(conflicts ? rows >= distinct : rows === 4, 'as many wavefronts as the banks need',
      `${rows} rows`);
  });
}

function askFragment() {
  ask('which lane and register holds S[5][3], and as which operand it enters P V', () => {
    const op = here().ops.find(o => o.kind === 'mma' && o.phase === 'qk');
    click(codeRow(op.line).querySelector('.text'));
    check(opHere().kind === 'mma', 'the line shows its mma', opHere().text);
    click(document.querySelector('[data-element="S 5 3"]'));
    const text = lanesText_();
    check(text.includes('S[5][3] is in lane 21, register c1'), 'S[5][3] is in lane 21, c1', text);
    check(/enters P V as operand A, element \[5\]\[(3|11)\]: register a[02], upper half/.test(text),
      'and enters P V as A', text.slice(0, 300));
  });
}

// Lane l of `columns` multiplies the element of K in its column by that of Q in its row. Of the
// multiplications of a line the sixth has the elements of column 5.
const askOperands = columns => () => {
  ask('which elements of Q and K the lanes multiply', () => {
    const [, , , , , op] = here().ops.filter(o => /^fma/.test(o.text) && o.phase === 'qk');
    click(codeRow(op.line).querySelector('.text'));
    click(byId('machine').querySelector(`[data-op="${here().ops.indexOf(op)}"]`));
    const figure = byId('lanes-body').querySelector('figure');
    check(figure.textContent.startsWith('Operands.'), 'an FFMA shows its operands');
    const place = new Map();
    for (const node of figure.querySelectorAll('[data-lanes]')) {
      const box = node.querySelector('rect');
      place.set(Number(node.dataset.lanes), [box.getAttribute('x'), box.getAttribute('y')]);
    }
    const order = at => [...new Set([...place.values()].map(p => Number(p[at])))]
      .sort((a, b) => a - b);
    const [across, down] = [order(0), order(1)];
    check(place.size === 32 && [...place].every(([lane, [x, y]]) =>
      across[lane % columns] === Number(x) && down[Math.floor(lane / columns)] === Number(y)),
    'each lane is where its thread indices put it');
    const title = figure.querySelector('.strong').textContent;
    const rows = [...figure.querySelectorAll('.words')].map(w => w.textContent)
      .filter(text => text.startsWith('Q['));
    check(title === 'K[0][…][5]' && rows.length === 32 / columns &&
      rows.every(text => text.endsWith('[5]')), 'Q and K are of its column',
    `${title}, ${rows.join(' ')}`);
    const { from } = registersOf(op);
    check(valueOf(from[0][0], 7).index.length === 3, 'and were read before they are overwritten');
  });
};

// A tile that went through registers has the elements side by side that were so in global memory.
function testStoredElements() {
  const { warps, ops } = here();
  const copies = op => ops[op].kind === 'shared store' && ops[op].phase === 'copy';
  const step = warps[0].op.findIndex(copies);
  move({ warp: 0, step });
  check(/The rows of [QKV] that these lanes write/.test(lanesText_()),
    'a store of a tile names the elements', lanesText_().slice(0, 200));
  let wrong = 0;
  for (const i of requestsOf(warps[0], step)) {
    const f = here().footprints[warps[0].footprint[i]], base = warps[0].base[i];
    for (const lane of lanesOf(f.mask))
      for (let byte = 0; byte < f.bytes; byte += 2) {
        const [first, found] = [0, byte].map(n => memory.elementAt(base + f.distance[lane] + n));
        const neighbour = memory.elementAt(base + f.distance[0]);
        if (found.index[2] !== first.index[2] + byte / 2 ||
          first.index[2] !== neighbour.index[2] + f.bytes / 2 * (lane % (run.d * 2 / f.bytes)))
          wrong++;
      }
  }
  check(wrong === 0, `and every one of them (${ops[warps[0].op[step]].text})`,
    `${wrong} are wrong`);
}

function askUnderCopy() {
  ask('what runs between the issue of V\'s copy and its first read', () => {
    const bar = timeline.bars.find(b => b.label === 'V');
    clickAt(byId('time-cursor'), Math.max(timeline.x(bar.start) + 2,
      (timeline.x(bar.start) + timeline.x(bar.end)) / 2), bar.y + 5);
    const text = byId('instruction').textContent;
    check(/^cp\.async V.*Q Kᵀ [\d,]+/.test(text), 'Q K^T runs under it', text);
    const reads = [];
    for (const event of memory.events)
      if (event.issue >= bar.start && event.issue < bar.end && event.from) reads.push(event);
    check(reads.length > 0, 'and its bytes are in flight meanwhile');
  });
}

function askDescriptor() {
  ask('what the fields of K\'s descriptor are, and which bytes step 3 reads', () => {
    const products = here().products.filter(p => p.warp === 0 &&
      opAt(0, p.step).phase === 'qk');
    click(codeRow(opAt(0, products[0].step).line).querySelector('.text'));
    check(lanesText_().includes('Descriptor of K'), 'the line shows the descriptor');
    const third = opAt(0, products[2].step);
    const index = here().ops.indexOf(third);
    click(byId('machine').querySelector(`[data-op="${index}"]`));
    const product = here().products.find(p => p.warp === cursor.warp && p.step === cursor.step);
    const bits = BigInt(`0x${product.b.bits}`), field = at => Number(bits >> at & 0x3fffn) * 16;
    check(field(0n) === product.b.address && field(16n) === product.b.leading &&
      field(32n) === product.b.stride && Number(bits >> 62n) === 1 && product.b.swizzle === 128,
    'its fields are those of its bits');
    const shown = [...document.querySelectorAll('.cell.read')]
      .map(c => Number(c.dataset.address)).slice(0, 32);
    const wanted = [];
    for (let row = 0; row < 16; row++)
      for (let half = 0; half < 2; half++) {
        const plain = product.b.address + 128 * row + 16 * half;
        wanted.push(plain ^ ((plain >> 7 & 7) << 4));
      }
    check(wanted.every(a => shown.includes(a)), 'and its bytes those of the 128-byte swizzle');
  });
}

function askRelease() {
  ask('at which arrival warp 4 goes on', () => {
    const { warps, mbarriers } = here();
    const waits = mbarriers.flatMap(p => p.waits.map(w => ({ ...w, phase: p })))
      .filter(w => w.warp === 4);
    check(waits.length > 0, 'warp 4 waits at mbarriers');
    const wait = waits[1] || waits[0];
    const row = timeline.rows[4];
    const time = warps[4].time[wait.step];
    timeline.from = Math.max(0, time - 60);
    timeline.to = timeline.from + 200;
    timeline.drawBase();
    clickAt(byId('time-cursor'), timeline.x(time + 0.5), row.y + row.height / 2);
    check(cursor.warp === 4 && cursor.step === wait.step, 'the timeline leads to the wait',
      `step ${cursor.step}, not ${wait.step}`);
    const last = wait.phase.arrivals.map(a => ({ ...a, time: warps[a.warp].time[a.step] }))
      .reduce((a, b) => b.time > a.time ? b : a);
    const named = document.querySelector('#lanes-body .go.last');
    check(named && Number(named.dataset.warp) === last.warp &&
      Number(named.dataset.step) === last.step, 'and names the last arrival');
    click(named);
    check(cursor.warp === last.warp && cursor.step === last.step, 'which is a click away');
  });
}

function askOverlap() {
  ask('which exponentials run while which wgmma is in flight', () => {
    const over = timeline.bars.filter(b => b.kind === 'wgmma')
      .map(b => ({ b, ...between(b.start, b.end) })).filter(b => b.exponentials > 0);
    check(over.length > 0, 'exponentials run under a wgmma');
    const { b } = over[0];
    let exponentials = 0;
    for (const warp of here().warps)
      for (let step = 0; step < warp.steps; step++)
        exponentials += warp.time[step] >= b.start && warp.time[step] <= b.end &&
          here().ops[warp.op[step]].text.startsWith('ex2');
    clickAt(byId('time-cursor'), (timeline.x(b.start) + timeline.x(b.end)) / 2, b.y + 5);
    check(timeline.chosen === b && byId('instruction').textContent
      .includes(`${grouped(exponentials)} exponential`), 'the page counts them',
    byId('instruction').textContent);
  });
}

function askRace() {
  const { fault } = here();
  check(!byId('fault').hidden && byId('fault').textContent.includes('race'),
    'the page says that there is a race', byId('fault').textContent.slice(0, 200));
  const buttons = [...document.querySelectorAll('#fault [data-step]')];
  check(buttons.length === 2, 'and has both sides');
  const lines = buttons.map(button => {
    click(button);
    return opHere().line;
  });
  check(lines.every(line => fault.text.includes(`:${line}`)), 'each a click away', lines.join());
  check(cursor.warp === fault.later.warp && fault.earlier.warp !== fault.later.warp ||
    /warp/.test(fault.text), 'with their warps');
}

const QUESTIONS = {
  3: [askOperands(32), testStoredElements], 4: [askOperands(32), testStoredElements],
  5: [askOperands(16), testStoredElements],
  6: [() => askBanks(true), askUnderCopy], 7: [() => askBanks(false)], 8: [askFragment],
  10: [askFragment, askUnderCopy], 12: [askDescriptor], 14: [askRelease], 15: [askOverlap],
};

function selfTest() {
  try {
    const faulty = Boolean(here().fault);
    testOpening();
    if (faulty && here().fault.earlier) askRace();
    move({ launch: 0, warp: 0, step: 0 });
    for (const test of [testViews, testKeys, testNotBegun, testOneCursor, testOrder, testMemory,
      testBanks, ...(ASKED.includes('work') ? [testWork, testSpeed] : [])]) test();
    if (!hasLines()) testWithoutLines();
    for (const question of faulty || !hasLines() ? [] : QUESTIONS[run.stage] || []) question();
    testLooks();
  } catch (error) {
    check(false, 'no exception', `${error.stack}`.replace(/\n/g, '\n# '));
  }
  tap.lines.push(`1..${tap.count}`);
  leave('tap', tap.lines.join('\n'));
}

function leave(id, text) {
  const out = make('pre', '', text);
  out.id = id;
  document.body.append(out);
}

// Opened with #said=93,120, or #test&said=93,120, a page leaves what it says after a click on each
// of these lines and on each bar, which is what the notes quote.
function leaveSaid(lines) {
  const said = [];
  for (const launch of launches.keys()) {
    chooseLaunch(launch);
    for (const row of document.querySelectorAll('#lines .row.runs')) {
      if (!lines.includes(row.dataset.line)) continue;
      move({ warp: 0, step: 0, lane: -1 });
      click(row.querySelector('.text'));
      said.push(`line ${row.dataset.line}: ${lanesText_()}`);
    }
    for (const bar of timeline.bars) said.push(`bar: ${statusView.span(bar).textContent}`);
  }
  leave('said', said.join('\n'));
}

const ASKED = location.hash.slice(1).split('&');
if (ASKED.includes('test')) selfTest();
for (const asked of ASKED)
  if (asked.startsWith('said=')) leaveSaid(asked.slice('said='.length).split(','));
if (ASKED.includes('picture')) leave('picture', picture());
