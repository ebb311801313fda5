// What a move of the cursor looks up instead of searching the record: the steps of an instruction,
// the instructions of a line, what happens at a step. Each is made once, when a launch is opened.

// The first index of an ascending list, or of a part of it, whose value is at least `value`.
function lowerBound(list, value, low = 0, high = list.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// Items by group, in the order in which they come: group g has those from items[first[g]] to before
// items[first[g + 1]]. `visit(put)` calls put(group, item) for each item, and is called twice.
function gather(groups, visit) {
  const first = new Uint32Array(groups + 1);
  visit(group => { first[group + 1]++; });
  for (let g = 0; g < groups; g++) first[g + 1] += first[g];
  const items = new Uint32Array(first[groups]), next = first.slice();
  visit((group, item) => { items[next[group]++] = item; });
  return { first, items };
}

// A map with lists as values.
function addTo(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

// ---- Instructions -------------------------------------------------------------------------------

const stepsOfOps = (warp, ops) => gather(ops, put => {
  for (let step = 0; step < warp.steps; step++) put(warp.op[step], step);
});

// Whether any warp executes an instruction, by its index.
function executedOps(warps, ops) {
  const executed = new Uint8Array(ops);
  for (const { op } of warps) for (const index of op) executed[index] = 1;
  return executed;
}

// The next or (by -1) the last step from `from` on in which a warp executes one of the
// instructions, -1: none.
function nextStep({ stepsOf: { first, items } }, from, by, ops) {
  let best = -1;
  for (const op of ops) {
    const low = first[op], end = first[op + 1];
    const at = by > 0 ? lowerBound(items, from + 1, low, end)
      : lowerBound(items, from, low, end) - 1;
    if (at >= low && at < end && (best < 0 || (best - items[at]) * by > 0)) best = items[at];
  }
  return best;
}

// The steps of a warp at which its line becomes another.
function turnsOf(warp, ops) {
  const turns = [];
  for (let step = 0; step < warp.steps; step++)
    if (step === 0 || ops[warp.op[step]].line !== ops[warp.op[step - 1]].line) turns.push(step);
  return Uint32Array.from(turns);
}

// The next step with a line other than that of `from`, or (by -1) the last one before it; -1: none.
function otherLine({ op, turns }, from, by, ops) {
  const { line } = ops[op[from]], at = lowerBound(turns, from + 1);
  for (let i = by > 0 ? at : at - 1; i < turns.length && (by > 0 || i > 0); i += by) {
    const step = by > 0 ? turns[i] : turns[i] - 1, other = ops[op[step]].line;
    if (other && other !== line) return step;
  }
  return -1;
}

// The instructions of each line: those that count there, and those of calls from there, too.
function opsByLine(ops) {
  const at = new Map(), from = new Map();
  for (const [index, op] of ops.entries()) {
    addTo(at, op.line, index);
    for (const line of new Set([op.line, ...op.lines])) addTo(from, line, index);
  }
  return { at, from };
}

// ---- Steps --------------------------------------------------------------------------------------

const nothing = () => ({ transfers: [], products: [], phases: [], ended: [], releases: [] });
const NOTHING = nothing();

// What a step has to do with beside its requests: bulk copies and wgmmas that it issues, phases
// that it arrives at or waits for, flights that it ends, releases that it gives or gets.
const happeningsAt = (warp, step) => here().warps[warp].happenings.get(step) || NOTHING;

function addHappenings(launch) {
  const add = (warp, step, kind, what) => {
    const { happenings } = launch.warps[warp];
    if (!happenings.has(step)) happenings.set(step, nothing());
    const list = happenings.get(step)[kind];
    if (!list.includes(what)) list.push(what);
  };
  for (const t of launch.transfers) add(t.warp, t.step, 'transfers', t);
  for (const p of launch.products) add(p.warp, p.step, 'products', p);
  for (const phase of [...launch.mbarriers, ...launch.barriers])
    for (const e of [...phase.arrivals, ...phase.waits]) add(e.warp, e.step, 'phases', phase);
  for (const f of launch.flights) add(f.warp, f.wait, 'ended', f);
  for (const r of launch.releases)
    for (const e of [r.from, r.to]) add(e.warp, e.step, 'releases', r);
}
