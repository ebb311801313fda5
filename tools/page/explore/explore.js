// Puts the views together: the head, keys, clicks and the place where the page opens.

// ---- The head -----------------------------------------------------------------------------------

function drawHead() {
  const launch = here(), [x, y, z] = launch.threads;
  const blocks = launch.grid.reduce((a, b) => a * b, 1);
  byId('title').textContent = run.name.replace(/^(\d+)_/, '$1 ').replace(/_/g, ' ');
  byId('facts').replaceChildren(
    make('span', '', `${launch.kernel}, block ${grouped(launch.index)} ` +
      `(0 to ${grouped(blocks - 1)})`),
    make('span', '', `${x * y * z} threads`),
    make('span', '', `${bytesText(launch.shared_bytes)} of shared memory`),
    make('span', '', `d ${run.d}, ${run.dtype}, ${run.causal ? 'causal' : 'full'}, ` +
      `${run.seq_q} queries, ${run.seq_kv} keys`),
    make('span', launch.cut ? 'cut-steps' : '', plural(launch.steps, 'step') + (launch.cut
      ? `; of loops the first, second and last round, ${grouped(launch.cut)} steps are cut` : '')));
  byId('kernels').hidden = launches.length < 2;
  byId('kernel').value = cursor.launch;
}

function drawLegend() {
  const used = new Set(here().ops.map(op => op.phase));
  byId('legend').replaceChildren(
    ...Object.entries(PHASES).filter(([name]) => used.has(name)).map(([name, text]) => {
      const item = make('li', '', text);
      item.style.setProperty('--tint', `var(--${name})`);
      return item;
    }),
    Object.assign(make('li', 'gap', 'stands still'), {}));
  const tints = [['never', STATES.never], ['memory-q', 'Q'], ['memory-k', 'K'], ['memory-v', 'V'],
    ['memory-p', 'S, P'], ['memory-o', 'O'], ['memory-other', 'other'], ['landing', STATES.landing],
    ['reading', STATES.reading], ['now', STATES.now]];
  byId('memory-legend').replaceChildren(...tints.map(([name, text]) => {
    const item = make('li', name, text);
    item.style.setProperty('--tint', `var(--${name === 'never' ? 'memory-never' : name})`);
    return item;
  }));
}

// ---- The line between the views -----------------------------------------------------------------

const statusView = {
  draw(before) {
    if (before.launch !== cursor.launch) {
      drawHead();
      drawLegend();
    }
    const op = opHere(), active = lanesOf(warpHere().mask[cursor.step]).length;
    byId('where').replaceChildren(
      make('b', '', `warp ${cursor.warp}`),
      ` step ${grouped(cursor.step)} (0 to ${grouped(warpHere().steps - 1)}) · `,
      make('b', '', op.line ? `line ${op.line}` : 'no line'),
      ` · ${plural(active, 'lane')}${cursor.lane >= 0 ? `, lane ${cursor.lane}` : ''}`);
    byId('instruction').textContent = op.text;
    byId('instruction').title = op.text;
    const { chosen } = timeline;
    if (chosen) byId('instruction').replaceChildren(this.span(chosen));
  },

  // What runs while the chosen flight is under way.
  span(bar) {
    bar.under = bar.under || between(bar.start, bar.end); // as many steps as the bar is long
    const { counts, exponentials } = bar.under;
    const parts = Object.keys(PHASES).filter(name => counts[name] && name !== 'other')
      .map(name => `${PHASES[name]} ${grouped(counts[name])}`);
    if (exponentials) parts.push(`${plural(exponentials, 'exponential')} among them`);
    return make('span', 'span', `${KIND_NAMES[bar.kind]} ${bar.label}` +
      `${bar.bytes ? `, ${bytesText(bar.bytes)}` : ''}: issued at line ` +
      `${lineOf(bar.warp, bar.first)}; under it run ${parts.join(', ') || 'no instructions'}`);
  },
};

views.push(timeline, codeView, memory, lanesView, statusView); // first what leaves room to others

// ---- Faults -------------------------------------------------------------------------------------

function drawFault() {
  const { fault } = here();
  byId('fault').hidden = !fault;
  if (!fault) return;
  const [headline] = fault.text.replace(/^ptxsim: /, '').split('\n');
  const content = [make('b', '', headline)];
  for (const name of ['earlier', 'later']) {
    const side = fault[name];
    if (side && side.step >= 0)
      content.push(goTo(side.warp, side.step, `${name}: ${side.text}, line ` +
        `${lineOf(side.warp, side.step)}`));
  }
  if (!fault.earlier && fault.warp >= 0)
    content.push(goTo(fault.warp, fault.step, `warp ${fault.warp}, line ` +
      `${lineOf(fault.warp, fault.step)}`));
  const whole = make('details', '', [make('summary', '', 'the report'),
    make('pre', '', fault.text)]);
  byId('fault').replaceChildren(...content, whole);
}

// ---- Where the page opens -----------------------------------------------------------------------

// The first wgmma, else the load from shared memory that costs most over its ideal, else the first
// step that shows something.
function tellingStep(launch) {
  const [warp] = launch.warps;
  const product = launch.products.find(p => p.warp === 0);
  if (product) return product.step;
  let best = null;
  for (let i = 0; i < warp.requests; i++) {
    const f = launch.footprints[warp.footprint[i]], step = warp.requestStep[i];
    const over = (f.units || 0) / (f.ideal || 1);
    const { kind, phase } = launch.ops[warp.op[step]];
    if (f.space === 'shared' && phase === 'qk' && !/store/.test(kind) &&
      (!best || over > best.over + 0.01)) best = { over, step };
  }
  if (best) return best.step;
  for (const want of [op => op.phase === 'qk' && isTelling(op), isTelling])
    for (let step = 0; step < warp.steps; step++)
      if (want(launch.ops[warp.op[step]])) return step;
  return 0;
}

function openingPlace() {
  const faulty = launches.findIndex(launch => launch.fault);
  if (faulty >= 0) {
    const { fault } = launches[faulty];
    return { launch: faulty, warp: Math.max(0, fault.warp), step: fault.step, lane: fault.lane };
  }
  return { launch: 0, warp: 0, step: tellingStep(launches[0]) };
}

function chooseLaunch(launch) {
  move({ launch, warp: 0, step: tellingStep(launches[launch]), lane: -1 });
  drawFault();
}

// ---- Keys and clicks ----------------------------------------------------------------------------

const KEYS = {
  'ArrowLeft': event => move({ step: cursor.step - (event.shiftKey ? 10 : 1) }),
  'ArrowRight': event => move({ step: cursor.step + (event.shiftKey ? 10 : 1) }),
  'ArrowUp': () => moveWarp(-1),
  'ArrowDown': () => moveWarp(1),
  'n': () => moveLine(1),
  'p': () => moveLine(-1),
  '[': () => move({ lane: cursor.lane - 1 }),
  ']': () => move({ lane: cursor.lane + 1 }),
  'Escape': () => { lanesView.place = null; timeline.choose(null); move({ lane: -1 }); },
  'b': () => timeline.chooseNext(1),
  'B': () => timeline.chooseNext(-1),
  ' ': play,
  '+': () => timeline.zoom(0.5, timeHere()),
  '=': () => timeline.zoom(0.5, timeHere()),
  '-': () => timeline.zoom(2, timeHere()),
  '0': () => timeline.all(),
  'l': () => showTab('lanes'),
  'm': () => showTab('memory'),
  '?': () => byId('keys').showModal(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  if (event.target.matches('select, input')) return;
  if (event.key === ' ' && event.target.matches('button, summary')) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
}

function showTab(name) {
  byId('right').dataset.tab = name;
  for (const tab of document.querySelectorAll('[data-tab][role=tab]'))
    tab.setAttribute('aria-selected', String(tab.dataset.tab === name));
  memory.paint();
}

function redraw() {
  timeline.drawBase();
  move({});
}

function showTip(text, event) {
  const tip = byId('tip');
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const x = clamp(event.clientX + 14, 4, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.left = `${x}px`;
  tip.style.top = `${below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 12}px`;
}

function listen() {
  document.addEventListener('keydown', pressed);
  byId('code').addEventListener('click', event => codeView.click(event));
  byId('lanes').addEventListener('click', event => lanesView.click(event));
  byId('fault').addEventListener('click', event => lanesView.click(event));
  byId('memory-map').addEventListener('click', event => memory.click(event));
  byId('memory-map').addEventListener('mousemove', event => showTip(memory.hover(event), event));
  byId('lanes-body').addEventListener('mousemove', event => {
    const node = event.target.closest('.cell');
    showTip(node && tipOf(node) || '', event);
  });
  for (const id of ['memory-map', 'lanes-body', 'tracks'])
    byId(id).addEventListener('mouseleave', event => showTip('', event));
  byId('kernel').addEventListener('change', event => chooseLaunch(Number(event.target.value)));
  byId('help').addEventListener('click', () => byId('keys').showModal());
  for (const tab of document.querySelectorAll('[role=tab]'))
    tab.addEventListener('click', () => showTab(tab.dataset.tab));
  for (const button of document.querySelectorAll('[data-move]'))
    button.addEventListener('click', () => {
      if (button.dataset.move === 'play') play();
      else move({ step: cursor.step + Number(button.dataset.move) });
    });
  const zooms = { in: () => timeline.zoom(0.5, timeHere()), out: () => timeline.zoom(2, timeHere()),
    all: () => timeline.all() };
  for (const button of document.querySelectorAll('[data-zoom]'))
    button.addEventListener('click', zooms[button.dataset.zoom]);
  listenTimeline();
  window.addEventListener('resize', () => { timeline.resize(); move({}); });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  window.addEventListener('theme', redraw);
  window.addEventListener('hashchange', followHash);
  window.addEventListener('beforeprint', () => { // a canvas has the colours and pixels of a screen
    const svg = timelineSvg(PICTURE.width), { theme = '' } = document.documentElement.dataset;
    byId('tracks').append(svg);
    setTheme('light'); // shared memory stays one
    window.addEventListener('afterprint', () => { svg.remove(); setTheme(theme); }, { once: true });
  });
}

function listenTimeline() {
  const canvas = byId('time-cursor');
  let drag = null;
  canvas.addEventListener('pointerdown', event => {
    drag = { x: event.offsetX, from: timeline.from, moved: false };
  });
  canvas.addEventListener('pointermove', event => {
    if (!event.buttons) drag = null; // released beside the canvas
    const bar = timeline.barAt(event.offsetX, event.offsetY);
    const text = bar ? statusView.span(bar).textContent
      : timeline.stepText(event.offsetX, event.offsetY);
    showTip(drag ? '' : text, event);
    if (!drag || Math.abs(event.offsetX - drag.x) < 4) return;
    drag.moved = true;
    const span = timeline.to - timeline.from;
    timeline.look(drag.from - (event.offsetX - drag.x) / timeline.width * span);
  });
  window.addEventListener('pointerup', () => { if (drag && !drag.moved) drag = null; });
  canvas.addEventListener('click', event => {
    const moved = drag && drag.moved;
    drag = null;
    if (!moved) timeline.click(event.offsetX, event.offsetY);
  });
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const span = timeline.to - timeline.from;
    if (event.shiftKey) timeline.look(timeline.from + span * (event.deltaX || event.deltaY) / 1000);
    else timeline.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeline.timeAt(event.offsetX));
  }, { passive: false });
}

// A line of another kernel of the stage opens that kernel.
function openLine(line) {
  const runsIt = launch => launch.opsOf.from.has(line);
  if (!runsIt(here()) && launches.some(runsIt)) chooseLaunch(launches.findIndex(runsIt));
  moveToLine(line);
}

// #line=137 opens the page at that line, #warp=4&step=99 at that step.
function followHash() {
  const place = new URLSearchParams(location.hash.slice(1));
  const among = (name, most, now) => clamp(Math.floor(numberIn(place, name, now)), 0, most - 1);
  if (place.has('warp')) move({ warp: among('warp', here().warps.length, cursor.warp) });
  if (place.has('step')) move({ step: among('step', warpHere().steps, cursor.step) });
  if (numberIn(place, 'line', 0)) openLine(numberIn(place, 'line', 0));
  if (['lanes', 'memory'].includes(place.get('tab'))) showTab(place.get('tab'));
  if (place.has('theme')) setTheme(place.get('theme'));
}

byId('kernel').replaceChildren(...launches.map((launch, i) => {
  const option = make('option', '', launch.kernel);
  option.value = i;
  return option;
}));
listen();
Object.assign(cursor, openingPlace());
drawHead();
drawLegend();
drawFault();
move({});
followHash();
