// The record as the views use it: lists by step in place of runs. tools/ptxsim/report/README.md
// says what its keys are.

const record = data('record'), run = data('run');

// Each warp: op[step], mask[step], time[step], and its requests, whose steps ascend.
function openWarp(raw) {
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

// The first index of an ascending list whose value is at least `value`.
function lowerBound(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// The step that a warp is in at a time, or did last before.
function stepAt(warp, time) {
  const at = lowerBound(warp.time.subarray(0, warp.steps), time + 1) - 1;
  return Math.max(0, Math.min(warp.steps - 1, at));
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

function openPhase(raw) {
  return {
    ...raw,
    arrivals: unflatten(raw.arrivals, 'warp', 'step', 'count'),
    waits: unflatten(raw.waits, 'warp', 'step'),
  };
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
  launch.warps = raw.warps.map(openWarp);
  launch.mbarriers = raw.mbarriers.map(openPhase);
  launch.barriers = raw.barriers.map(openPhase);
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

// The tensor that a step copies from or to, by its requests or its bulk copy; '' if none.
function tensorOf(launch, warp, step) {
  const w = launch.warps[warp];
  for (const i of requestsOf(w, step)) {
    const f = launch.footprints[w.footprint[i]];
    if (f.space === 'global' && f.tensor >= 0) return element(launch, f.tensor, 0).name;
  }
  const transfer = launch.transfers.find(t => t.warp === warp && t.step === step);
  return transfer && transfer.tensor >= 0 ? element(launch, transfer.tensor, 0).name : '';
}

const lanesOf = mask => [...Array(32).keys()].filter(lane => mask >>> lane & 1);
