// The cursor that all views share: a launch, one of its warps, a step of that, and a lane or none.

const launches = record.launches.map(openLaunch);
const cursor = { launch: 0, warp: 0, step: 0, lane: -1 };
const views = []; // each has draw(previous): the cursor was there before

const here = () => launches[cursor.launch];
const warpHere = () => here().warps[cursor.warp];
const opAt = (warp, step) => here().ops[here().warps[warp].op[step]];
const opHere = () => opAt(cursor.warp, cursor.step);
const timeHere = () => warpHere().time[cursor.step];

// Moves the cursor to what `to` names, and keeps the rest.
function move(to) {
  const before = { ...cursor };
  Object.assign(cursor, to);
  cursor.warp = clamp(cursor.warp, 0, here().warps.length - 1);
  cursor.step = clamp(cursor.step, 0, warpHere().steps - 1);
  cursor.lane = clamp(cursor.lane, -1, 31);
  for (const view of views) view.draw(before);
}

// The next or (by -1) the last step of the warp whose line is wanted, -1: none.
function findStep(warp, from, by, wanted) {
  const w = here().warps[warp];
  for (let step = from + by; step >= 0 && step < w.steps; step += by)
    if (wanted(here().ops[w.op[step]], step)) return step;
  return -1;
}

// The lines of an instruction: where it counts, and the calls that led there.
const isFrom = (op, line) => op.line === line || op.lines.includes(line);

// The next step of the cursor's warp, or else of any other, that comes from a line.
function moveToLine(line) {
  const order = [cursor.warp, ...here().warps.keys()];
  for (const warp of order) {
    const from = warp === cursor.warp ? cursor.step : -1;
    for (const at of [op => op.line === line, op => isFrom(op, line)]) {
      let step = findStep(warp, from, 1, at);
      if (step < 0) step = findStep(warp, -1, 1, at);
      if (step < 0) continue;
      // what shows most of the line: its memory, its products; others may stand between
      const isBest = op => at(op) && isTelling(op);
      const best = findStep(warp, step - 1, 1, (op, s) => s > step + 400 || isBest(op));
      if (best >= 0 && isBest(opAt(warp, best))) step = best;
      move({ warp, step });
      return;
    }
  }
}

const TELLING = /^(shared|global|ldmatrix|stmatrix|cp.async|bulk|mma|wgmma|barrier|mbarrier)/;
const isTelling = op => TELLING.test(op.kind);

function moveLine(by) {
  const line = opHere().line;
  const step = findStep(cursor.warp, cursor.step, by, op => op.line && op.line !== line);
  if (step >= 0) move({ step });
}

function moveWarp(by) {
  const warp = clamp(cursor.warp + by, 0, here().warps.length - 1);
  move({ warp, step: stepAt(here().warps[warp], timeHere()) });
}

let playing = 0;
function play() {
  if (playing) clearInterval(playing);
  playing = playing ? 0 : setInterval(() => {
    if (cursor.step + 1 >= warpHere().steps) play(); else move({ step: cursor.step + 1 });
  }, 120);
  document.querySelector('[data-move=play]').classList.toggle('on', playing > 0);
}

// Names of warps: what they do in the block. Warps that issue copies and no products produce.
function rolesOf(launch) {
  return launch.warps.map((warp, index) => {
    const kinds = new Set(Array.from(new Set(warp.op), op => launch.ops[op].kind));
    if (!launch.products.length && !launch.transfers.length) return '';
    const loads = launch.transfers.some(t => t.warp === index && !t.stores);
    const group = Math.floor(index / 4);
    if (kinds.has('wgmma')) return `warpgroup ${group}`;
    return loads ? 'producer' : 'idle';
  });
}
