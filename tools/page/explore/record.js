// The record as the views use it: lists by step in place of runs. tools/ptxsim/report/README.md
// says what its keys are.

const record = data('record'), run = data('run');

// Each warp: op[step], mask[step], time[step], its requests, whose steps ascend, the steps of each
// instruction, where the line turns, and what happens at a step.
function openWarp(raw, ops) {
  const steps = raw.steps;
  const warp = {
    steps,
    op: new Int32Array(steps),
    mask: new Int32Array(steps),
    time: new Uint32Array(steps + 1),
    divergent: new Set(raw.divergent),
  };
  let step = 0, time = 0;
  for (let i = 0; i < raw.runs.length; i += 4) {
    const [first, count, mask, later] = raw.runs.slice(i, i + 4);
    time += later;
    for (let n = 0; n < count; n++, step++, time++) {
      warp.op[step] = first + n;
      warp.mask[step] = mask;
      warp.time[step] = time;
    }
  }
  warp.time[steps] = time;
  warp.stepsOf = stepsOfOps(warp, ops.length);
  warp.turns = turnsOf(warp, ops);
  warp.happenings = new Map();
  const requests = raw.requests.length / 3;
  warp.requests = requests;
  warp.requestStep = new Uint32Array(requests);
  warp.footprint = new Uint32Array(requests);
  warp.base = new Float64Array(requests);
  for (let i = 0, at = 0; i < requests; i++) {
    warp.requestStep[i] = at += raw.requests[3 * i];
    warp.footprint[i] = raw.requests[3 * i + 1];
    warp.base[i] = raw.requests[3 * i + 2];
  }
  return warp;
}

// The step that a warp is in at a time, or did last before; -1 if it has none, because a fault of
// another warp came before its first.
function stepAt(warp, time) {
  const at = lowerBound(warp.time, time + 1, 0, warp.steps) - 1;
  return Math.min(warp.steps - 1, Math.max(0, at));
}

// The requests of a step: their indices.
function requestsOf(warp, step) {
  const found = [];
  for (let i = lowerBound(warp.requestStep, step); warp.requestStep[i] === step; i++) found.push(i);
  return found;
}

// A list of numbers in groups, as objects: unflatten([1, 2, 3, 4], 'warp', 'step').
function unflatten(list, ...names) {
  const objects = [];
  for (let i = 0; i < list.length; i += names.length)
    objects.push(Object.fromEntries(names.map((name, n) => [name, list[i + n]])));
  return objects;
}

// A phase of an mbarrier, or a use of a barrier.
function openPhase(raw, barrier) {
  return {
    ...raw,
    barrier, loads: [], // the bulk copies that it waits for
    arrivals: unflatten(raw.arrivals, 'warp', 'step', 'count'),
    waits: unflatten(raw.waits, 'warp', 'step'),
  };
}

// From the last arrival at a phase to each wait of another warp: it lets that go.
function releasesOf({ warps, mbarriers, barriers }) {
  const list = [];
  for (const phase of [...mbarriers, ...barriers]) {
    let last = null;
    for (const a of phase.arrivals)
      if (!last || warps[a.warp].time[a.step] > warps[last.warp].time[last.step]) last = a;
    if (last) for (const wait of phase.waits)
      if (wait.warp !== last.warp) list.push({ from: last, to: wait });
  }
  return list;
}

// The kernel's parameters, from its signature: name, bytes of an element, names of dimensions.
function signature(launch) {
  const text = launch.source.join('\n');
  const plain = text.replace(/\/\/.*/g, comment => ' '.repeat(comment.length));
  const start = plain.search(new RegExp(`\\b${launch.kernel}\\s*\\([^;]*?\\)\\s*\\{`));
  if (start < 0) return [];
  const end = plain.indexOf('{', start);
  const parameters = [];
  for (const line of text.slice(text.indexOf('(', start) + 1, end).split('\n')) {
    const [code, comment = ''] = line.split('//');
    for (const part of code.replace(/\)\s*$/, '').split(',').filter(part => part.trim())) {
      const shape = comment.match(/\[([^\]]*)\]/);
      parameters.push({
        name: (part.match(/(\w+)\s*$/) || ['', '?'])[1],
        bytes: /\bfloat\b/.test(part) ? 4 : 2,
        shape: shape ? shape[1].split(',').map(name => name.trim()) : [],
      });
    }
  }
  return parameters;
}

const SIZES = {
  batch: run.batch, heads: run.heads, kv_heads: run.kv_heads,
  seq_q: run.seq_q, seq_kv: run.seq_kv, D: run.d,
};

// The element at a byte of a tensor: {name, index, text}, text such as K[0][130][40].
function element(launch, tensor, offset) {
  const parameter = tensor >= 0 && launch.parameters[launch.tensors[tensor].parameter];
  if (!parameter) return { name: '?', index: [], text: `0x${offset.toString(16)}` };
  const sizes = parameter.shape.map(name => SIZES[name]);
  let rest = Math.floor(offset / parameter.bytes);
  if (!sizes.length || sizes.some(size => !size) || rest < 0)
    return { name: parameter.name, index: [rest], text: `${parameter.name}[${rest}]` };
  const index = [];
  for (const size of sizes.slice().reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  if (sizes[0] === 1) index.shift();
  return { name: parameter.name, index, text: parameter.name + index.map(i => `[${i}]`).join('') };
}

function openLaunch(raw) {
  const launch = { ...raw, source: raw.source.length ? raw.source : data('source') };
  launch.ops = raw.ops.map(([text, cls, line, lines]) =>
    ({ text, kind: raw.classes[cls], line, lines }));
  launch.opsOf = opsByLine(launch.ops);
  launch.warps = raw.warps.map(warp => openWarp(warp, launch.ops));
  launch.executed = executedOps(launch.warps, launch.ops.length);
  launch.mbarriers = raw.mbarriers.map(phase => openPhase(phase, false));
  launch.barriers = raw.barriers.map(phase => openPhase(phase, true));
  for (const flight of launch.flights)
    if (flight.phase >= 0) launch.mbarriers[flight.phase].loads.push(flight);
  launch.releases = releasesOf(launch);
  addHappenings(launch);
  launch.parameters = signature(launch);
  launch.end = Math.max(1, ...launch.warps.map(warp => warp.time[warp.steps]));
  launch.steps = launch.warps.reduce((sum, warp) => sum + warp.steps, 0);
  launch.share = new Map();
  for (const [op, counters] of raw.counters.entries())
    addToLine(launch.share, launch.ops[op], counters);
  for (const op of launch.ops) op.phase = phaseOf(launch, op);
  return launch;
}

// The name of a variable in shared memory at an address, such as ring_K + 8; '' if there is none.
function variableAt(launch, address) {
  for (const v of launch.variables)
    if (address >= v.address && address < v.address + v.bytes && v.name !== 'shared')
      return v.name + (address > v.address ? ` + ${address - v.address}` : '');
  return '';
}

const lanesOf = mask => [...Array(32).keys()].filter(lane => mask >>> lane & 1);
