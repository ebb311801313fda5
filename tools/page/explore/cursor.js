// The cursor that all views share: a launch, one of its warps, a step of that, and a lane or none.

const launches = record.launches.map(openLaunch);
const cursor = { launch: 0, warp: 0, step: 0, lane: -1 };

// Each view may have draw(previous), which changes elements, where the cursor was there before; and
// paint(), which scrolls and fills canvases. Only paint() may read the layout: so a move has one.
const views = [];

const here = () => launches[cursor.launch];
const warpHere = () => here().warps[cursor.warp];
const opAt = (warp, step) => here().ops[here().warps[warp].op[step]];
const opHere = () => opAt(cursor.warp, cursor.step);
const timeHere = () => warpHere().time[cursor.step];

// Moves the cursor to what `to` names, and keeps the rest. It goes to no warp without a step.
function move(to) {
  const before = { ...cursor };
  Object.assign(cursor, to);
  cursor.warp = clamp(cursor.warp, 0, here().warps.length - 1);
  if (!warpHere().steps) cursor.warp = before.warp;
  cursor.step = clamp(cursor.step, 0, warpHere().steps - 1);
  cursor.lane = clamp(cursor.lane, -1, 31);
  for (const view of views) if (view.draw) view.draw(before);
  for (const view of views) if (view.paint) view.paint();
}

// The next step of a warp with one of the instructions, after the cursor or else from its start.
function stepOnward(warp, ops) {
  const w = here().warps[warp];
  const step = warp === cursor.warp ? nextStep(w, cursor.step, 1, ops) : -1;
  return step < 0 ? nextStep(w, -1, 1, ops) : step;
}

const MOST_BETWEEN = 400; // steps between the first of a line and what shows most of it

// The next step of the cursor's warp, or else of any other, that comes from a line.
function moveToLine(line) {
  const { opsOf, ops, executed, warps } = here();
  const lists = [opsOf.at, opsOf.from].map(of => (of.get(line) || []).filter(op => executed[op]));
  for (const warp of [cursor.warp, ...warps.keys()])
    for (const wanted of lists) {
      const step = stepOnward(warp, wanted);
      if (step < 0) continue;
      // what shows most of the line: its memory, its products; others may stand between
      const best = nextStep(warps[warp], step - 1, 1, wanted.filter(op => isTelling(ops[op])));
      move({ warp, step: best >= 0 && best - step <= MOST_BETWEEN ? best : step });
      return;
    }
}

const TELLING = /^(shared|global|ldmatrix|stmatrix|cp.async|bulk|mma|wgmma|barrier|mbarrier)/;
const isTelling = op => TELLING.test(op.kind);

function moveLine(by) {
  const step = otherLine(warpHere(), cursor.step, by, here().ops);
  if (step >= 0) move({ step });
}

function moveWarp(by) {
  const { warps } = here();
  let warp = cursor.warp + by;
  while (warps[warp] && !warps[warp].steps) warp += by;
  if (warps[warp]) move({ warp, step: stepAt(warps[warp], timeHere()) });
}

let playing = 0;
function play() {
  if (playing) clearInterval(playing);
  playing = playing ? 0 : setInterval(() => {
    if (cursor.step + 1 >= warpHere().steps) play(); else move({ step: cursor.step + 1 });
  }, 120);
  const button = document.querySelector('[data-move=play]');
  button.classList.toggle('on', playing > 0);
  button.setAttribute('aria-pressed', String(playing > 0));
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
