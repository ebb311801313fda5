// The lanes view: what the 32 lanes of the cursor's step do.

const BANK = { width: 23, height: 20 };
const MOST_ROWS = 32;

const lanesView = {
  draw() {
    const op = opHere(), warp = warpHere(), body = document.getElementById('lanes-body');
    const figures = [], happenings = happeningsAt(cursor.warp, cursor.step);
    for (const i of requestsOf(warp, cursor.step)) {
      const f = here().footprints[warp.footprint[i]];
      if (f.space === 'shared') figures.push(...sharedFigures(op, f, warp.base[i]));
      if (f.space === 'global') figures.push(sectorsFigure(f, warp.base[i]));
      if (f.space === 'lanes') figures.push(shuffleFigure(f));
      if (f.matrices) figures.unshift(ldmatrixFigure(op, f.matrices));
    }
    figures.push(...happenings.transfers.map(transferFigure));
    const [product] = happenings.products;
    if (product) figures.push(...wgmmaFigures(op, product));
    if (op.kind === 'mma') figures.push(mmaFigure(op));
    const operands = operandsFigure(op);
    if (operands) figures.push(operands);
    figures.push(...waitFigures(happenings));
    if (!figures.length) figures.push(activeFigure(op));
    body.replaceChildren(...figures);
    this.toTop = this.op !== op.text;
    this.op = op.text;
    document.getElementById('lanes-note').textContent =
      cursor.lane >= 0 ? `lane ${cursor.lane} of warp ${cursor.warp}` : 'a click chooses a lane';
    this.drawDestiny(op, product);
  },

  paint() {
    if (this.toTop) document.getElementById('lanes-body').scrollTop = 0;
  },

  // Below the fragments of a sum: where the chosen lane's chosen element goes.
  drawDestiny(op, product) {
    const place = this.place;
    if (op.kind !== 'mma' && !product || !place || place.op !== op) return;
    const names = operandGroups(op.text)[0], index = warpHere().op[cursor.step];
    const text = make('p', 'destiny', `${place.name}[${place.row}][${place.column}] is in lane ` +
      `${place.lane}, register ${place.letter}${place.register} (${names[place.register]}).`);
    const line = destiny(op, index, names, place);
    document.getElementById('lanes-body').prepend(text, ...(line ? [line] : []));
    this.toTop = true;
  },

  click(event) {
    const go = event.target.closest('[data-step]');
    if (go) {
      move({ warp: Number(go.dataset.warp), step: Number(go.dataset.step) });
      document.getElementById('lanes-body').focus(); // the button is gone
      return;
    }
    const node = event.target.closest('[data-lanes]');
    if (!node) return;
    const lanes = node.dataset.lanes.split(' ').map(Number);
    const next = lanes[(lanes.indexOf(cursor.lane) + 1) % lanes.length];
    this.place = null;
    if (node.dataset.element) {
      const [name, row, column] = node.dataset.element.split(' ');
      const sum = ['S', 'O', 'D'].includes(name);
      if (sum) this.place = {
        op: opHere(), name, row, column, lane: next, letter: opHere().kind === 'wgmma' ? 'd' : 'c',
        register: Number(node.dataset.register), half: Number(node.dataset.half),
      };
    }
    move({ lane: next });
  },
};

// ---- Shared memory ------------------------------------------------------------------------------

// Lanes that share a cell: "3", "3 7", "3 +2" or, where that does not fit, "3+".
function lanesText(lanes, room) {
  if (lanes.length === 1) return `${lanes[0]}`;
  if (lanes.length === 32) return 'all';
  if (room < 38) return `${lanes[0]}+`;
  return lanes.length === 2 ? lanes.join(' ') : `${lanes[0]} +${lanes.length - 1}`;
}

// The bank with the most wavefronts, and a lane of each.
function worstBank(f) {
  const banks = new Map();
  for (const lane of lanesOf(f.mask)) {
    const bank = f.bank[lane];
    if (!banks.has(bank)) banks.set(bank, new Map());
    if (!banks.get(bank).has(f.wavefront[lane])) banks.get(bank).set(f.wavefront[lane], lane);
  }
  const [bank, lanes] = [...banks.entries()].reduce((a, b) => b[1].size > a[1].size ? b : a);
  return { bank, lanes: [...lanes.values()] };
}

function banksSentence(f) {
  if (f.units <= f.ideal)
    return `${plural(f.units, 'wavefront')}, as few as these bytes need: no two lanes want ` +
      'different words of one bank at a time.';
  const { bank, lanes } = worstBank(f);
  const named = lanes.slice(0, 8).join(', ') + (lanes.length > 8 ? ' …' : '');
  return `${plural(f.units, 'wavefront')} where ${f.ideal} would do: lanes ${named} want ` +
    `different words of bank ${bank}.`;
}

function sharedFigures(op, f, base) {
  const rows = Math.min(f.units, MOST_ROWS), worst = f.units > f.ideal ? worstBank(f).bank : -1;
  const { width, height } = BANK, left = 34;
  const svg = drawing(left + 32 * width + 4, 24 + rows * height, 'Banks and wavefronts');
  for (let bank = 0; bank < 32; bank++)
    words(svg, left + bank * width + width / 2, 12, String(bank),
      bank === worst ? 'bad small' : 'faint small', 'middle');
  for (let row = 0; row < rows; row++) {
    words(svg, left - 8, 20 + row * height + 14, String(row + 1), 'faint small', 'end');
    svg.append(shape('rect', { x: left, y: 20 + row * height, width: 32 * width - 1,
      height: height - 1, class: 'lane-row' }));
  }
  const cells = new Map();
  for (const lane of lanesOf(f.mask)) {
    const key = `${f.wavefront[lane]} ${f.bank[lane]}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(lane);
  }
  const span = Math.max(1, f.bytes / 4);
  for (const [key, lanes] of cells) {
    const [wave, bank] = key.split(' ').map(Number);
    if (wave >= rows) continue;
    const address = base + f.distance[lanes[0]];
    const who = f.matrices ? `row ${lanes.map(l => `${l % 8} of matrix ${l >> 3}`).join(', ')}`
      : `lane${lanes.length > 1 ? 's' : ''} ${lanes.join(', ')}`;
    cell(svg, left + bank * width, 20 + wave * height, span * width, height, {
      text: lanesText(lanes, span * width), lanes, tip: () => `${who}: ${memory.describe(address)}`,
    });
  }
  const ratio = f.units > f.ideal ? 'bad' : 'good';
  const verb = /store|stmatrix/.test(op.kind) ? 'write' : 'read';
  const figure = titled('Banks.', `${banksSentence(f)} Across: the 32 banks; down: one wavefront ` +
    'after the other.', svg);
  figure.classList.add(ratio);
  const tile = op.kind === 'cp.async' ? null : tileFigure(f, base, verb);
  return tile ? [figure, tile] : [figure];
}

// The elements that the lanes read or write, as a piece of the tensor that they come from; null if
// they come from none. A lane beyond the tensor has a zero, which is no element.
function tileFigure(f, base, verb) {
  const owners = lanesOf(f.mask).map(lane =>
    ({ lane, element: memory.elementAt(base + f.distance[lane]) }))
    .filter(({ element: e }) => e && e.index.length > 1);
  if (!owners.length) return null;
  const [{ element: any }] = owners;
  const step = Math.max(1, f.bytes / 2), at = new Map();
  for (const { lane, element: e } of owners) {
    const row = e.index.slice(0, -1).join(' '), column = e.index[e.index.length - 1];
    if (!at.has(row)) at.set(row, new Map());
    const cells = at.get(row);
    if (!cells.has(column)) cells.set(column, []);
    cells.get(column).push(lane);
  }
  const columns = Math.ceil(run.d / Math.max(8, step)), per = run.d / columns;
  const width = Math.min(46, Math.floor(720 / columns)), height = 18, left = 96;
  const rows = [...at.keys()].slice(0, MOST_ROWS);
  const svg = drawing(left + columns * width + 4, 22 + rows.length * height, 'Elements');
  for (let c = 0; c < columns; c++)
    words(svg, left + c * width + width / 2, 11, String(c * per), 'faint small', 'middle');
  for (const [r, key] of rows.entries()) {
    const name = any.name + key.split(' ').map(i => `[${i}]`).join('');
    words(svg, left - 8, 18 + r * height + 13, name, 'small', 'end');
    for (let c = 0; c < columns; c++) {
      const lanes = [...at.get(key)].filter(([column]) => Math.floor(column / per) === c)
        .flatMap(([, list]) => list);
      cell(svg, left + c * width, 18 + r * height, width, height, lanes.length
        ? { text: lanesText(lanes, width), lanes, tip: `lanes ${lanes.join(', ')}` }
        : { kind: 'empty' });
    }
  }
  return titled('Elements.', `The rows of ${any.name} that these lanes ${verb}, by column.`, svg);
}

// ---- Global memory ------------------------------------------------------------------------------

function sectorsFigure(f, base) {
  const width = 22, height = 20, left = 104;
  const first = Math.floor(base / 32), lines = new Map();
  for (const [i, sector] of f.sectors.entries()) {
    const line = (first + sector) >> 2;
    if (!lines.has(line)) lines.set(line, []);
    lines.get(line).push(i);
  }
  const rows = [...lines.keys()].slice(0, MOST_ROWS);
  const svg = drawing(left + 32 * width + 14, 22 + rows.length * height, 'Sectors');
  for (let byte = 0; byte < 128; byte += 32)
    words(svg, left + byte / 4 * width + byte / 32 * 3, 12, `byte ${byte}`, 'faint small');
  const wanted = new Map();
  for (const lane of lanesOf(f.mask))
    for (let byte = 0; byte < Math.max(4, f.bytes); byte += 4) {
      const key = `${f.sector[lane]} ${(f.within[lane] + byte) >> 2}`;
      if (!wanted.has(key)) wanted.set(key, []);
      wanted.get(key).push(lane);
    }
  for (const [r, line] of rows.entries()) {
    const y = 18 + r * height;
    words(svg, left - 8, y + 14, element(here(), f.tensor, line * 128).text, 'small', 'end');
    for (const i of lines.get(line)) {
      const place = (first + f.sectors[i]) & 3;
      for (let word = 0; word < 8; word++) {
        const lanes = wanted.get(`${i} ${word}`) || [];
        const at = () => element(here(), f.tensor, (first + f.sectors[i]) * 32 + 4 * word).text;
        cell(svg, left + (8 * place + word) * width + 3 * place, y, width, height, {
          text: lanes.length ? lanesText(lanes, width) : '', lanes,
          kind: lanes.length ? '' : 'unwanted',
          tip: () => lanes.length ? `lane ${lanes.join(', ')}: ${at()}`
            : `${at()}: moved, not wanted`,
        });
      }
    }
  }
  const bytes = new Set(lanesOf(f.mask).map(lane => f.distance[lane])).size * f.bytes;
  const hidden = lines.size - rows.length;
  const sentence = `${plural(f.units, 'sector')} of 32 bytes move for ${grouped(bytes)} wanted ` +
    `bytes; packed they would need ${f.ideal}.${hidden > 0 ? ` ${hidden} more lines follow.` : ''}`;
  const figure = titled('Global memory.', sentence, svg);
  figure.classList.add(f.units > f.ideal ? 'bad' : 'good');
  return figure;
}

function transferFigure(t) {
  const { shared_base: base } = here(), flight = here().flights[t.flight];
  const phase = flight.phase >= 0 ? here().mbarriers[flight.phase] : null;
  const from = t.tensor >= 0 ? element(here(), t.tensor, t.base).text : '?';
  const where = `byte ${grouped(t.shared - base)} of shared memory`;
  const rows = [
    ['bytes', `${bytesText(t.bytes)}, ${plural(t.units, 'sector')}`],
    ['from', t.stores ? where : `${from} on`], ['to', t.stores ? `${from} on` : where],
  ];
  if (t.start.length) rows.push(['box at', `(${t.start.join(', ')}) of the tensor map`]);
  if (phase) rows.push(['completes', phaseName(phase)]);
  if (phase && phase.waits.length) rows.push(['waited for by', phaseButtons(phase.waits)]);
  return titled(t.stores ? 'Bulk store.' : 'Bulk load.', 'One lane asks, the TMA unit copies.',
    table(rows));
}

// ---- Shuffles, active lanes ---------------------------------------------------------------------

function shuffleFigure(f) {
  const step = 23, svg = drawing(32 * step + 80, 150, 'Shuffle');
  words(svg, 4, 32, 'from lane', 'faint small');
  words(svg, 4, 128, 'to lane', 'faint small');
  const x = lane => 66 + lane * step + step / 2;
  for (const lane of lanesOf(f.mask))
    svg.append(shape('line', { x1: x(f.distance[lane]), y1: 40, x2: x(lane), y2: 112,
      class: lane === cursor.lane ? 'wire chosen' : 'wire' }));
  for (let lane = 0; lane < 32; lane++) {
    const active = f.mask >>> lane & 1, from = f.distance[lane];
    cell(svg, x(lane) - step / 2, 18, step, 22, { text: String(lane), lanes: [lane] });
    cell(svg, x(lane) - step / 2, 112, step, 22, active
      ? { text: String(lane), lanes: [lane], tip: `lane ${lane} reads lane ${from}` }
      : { kind: 'empty' });
  }
  return titled('Shuffle.', 'Who reads the register of whom.', svg);
}

function activeFigure(op) {
  const mask = warpHere().mask[cursor.step], step = 23;
  const svg = drawing(32 * step + 8, 30, 'Active lanes');
  for (let lane = 0; lane < 32; lane++)
    cell(svg, 4 + lane * step, 4, step, 22, {
      text: String(lane), lanes: [lane], kind: mask >>> lane & 1 ? '' : 'empty',
    });
  const active = lanesOf(mask).length;
  return titled('Active lanes.', `${active} of 32 execute this ${op.kind} instruction, which ` +
    'touches no memory and waits for nobody.', svg);
}

// ---- Waiting ------------------------------------------------------------------------------------

function phaseName(phase) {
  if (phase.barrier) return `barrier ${phase.at}, its use ${phase.phase + 1}`;
  return `mbarrier ${variableAt(here(), phase.at) || hex(phase.at)}, phase ${phase.phase}`;
}

function phaseButtons(events, last = null) {
  return make('span', 'events', events.map(e => {
    const button = goTo(e.warp, e.step, `warp ${e.warp}, line ${lineOf(e.warp, e.step)}`);
    if (e === last) button.classList.add('last');
    return button;
  }));
}

// For a step that arrives or waits: everybody else who does, and who lets whom go.
function waitFigures({ phases, ended }) {
  const figures = phases.map(phaseFigure);
  if (ended.length) figures.push(titled('Waited for.', 'What this wait ends:',
    table(ended.map(f => [f.kind, make('span', '', [`${plural(f.operations, 'operation')}` +
      `${f.bytes ? `, ${bytesText(f.bytes)}` : ''}, issued at `,
    goTo(f.warp, f.first, `line ${lineOf(f.warp, f.first)}`)])]))));
  return figures;
}

function phaseFigure(phase) {
  const launch = here(), time = a => launch.warps[a.warp].time[a.step];
  const last = phase.arrivals.reduce((a, b) => !a || time(b) > time(a) ? b : a, null);
  const count = phase.arrivals.reduce((sum, a) => sum + a.count, 0);
  const { loads } = phase, unit = phase.barrier ? 'thread' : 'arrival';
  const rows = [['arrive', phaseButtons(phase.arrivals, last)]];
  if (loads.length) rows.push(['copies', make('span', 'events', loads.map(f =>
    goTo(f.warp, f.first, `${bytesText(f.bytes)}, line ${lineOf(f.warp, f.first)}`)))]);
  rows.push(['go on after it', phase.waits.length ? phaseButtons(phase.waits) : 'nobody waits']);
  const end = !phase.complete ? 'It never completes.' : loads.length
    ? 'It completes when the bytes have landed.'
    : last ? `The last arrival is that of warp ${last.warp}, line ${lineOf(last.warp, last.step)}.`
      : '';
  const name = phaseName(phase);
  return titled(`${name[0].toUpperCase()}${name.slice(1)}.`,
    `${plural(count, unit)}${phase.expected ? ` of ${phase.expected}` : ''}. ${end}`, table(rows));
}
