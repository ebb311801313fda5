// Where the value in a register comes from: back through moves and conversions to the load that
// read it, lane by lane. So a tile that went through registers keeps its elements' names, and an
// FFMA says what it multiplies.

// An instruction's name, the registers that it writes, and the groups that it reads.
function registersOf(op) {
  if (!op.registers) {
    const [to = [], ...from] = operandGroups(op.text);
    op.registers = { name: op.text.replace(/^@!?%\w+\s+/, '').split(' ')[0], to, from };
  }
  return op.registers;
}

// The instructions of a launch that write a register.
function writersOf(launch, register) {
  if (!launch.writers) {
    launch.writers = new Map();
    for (const [index, op] of launch.ops.entries())
      for (const to of registersOf(op).to) addTo(launch.writers, to, index);
  }
  return launch.writers.get(register) || [];
}

const typeBytes = name => Number((name.match(/(\d+)$/) || [0, 32])[1]) / 8;

// The load that brought `byte` of a register, as a lane has it before a step: {step, byte}, where
// `byte` counts in what the lane loaded. null if the value was computed.
function originOf(warp, step, register, lane, byte = 0) {
  const w = here().warps[warp];
  for (let s = step; (s = nextStep(w, s, -1, writersOf(here(), register))) >= 0;) {
    if (!(w.mask[s] >>> lane & 1)) continue;
    const { name, to, from } = registersOf(opAt(warp, s)), at = to.indexOf(register);
    if (/^ld\.(shared|global)/.test(name)) return { step: s, byte: at * typeBytes(name) + byte };
    if (!/^(mov|cvt)\./.test(name) || !from.length) return null;
    const [source] = from, bytes = typeBytes(name) / Math.max(to.length, source.length);
    if (to.length > 1) byte += at * bytes; // mov.b32 {low, high}, both
    const part = source.length > 1 ? Math.floor(byte / bytes) : 0; // mov.b32 both, {low, high}
    if (source.length > 1) byte %= bytes;
    register = source[part];
    if (!/^%/.test(register)) return null; // a constant
  }
  return null;
}

// The lane whose bytes of a request have an address, -1 for none.
function laneAt(f, base, address) {
  const lane = lanesOf(f.mask).find(l => address >= base + f.distance[l] &&
    address < base + f.distance[l] + f.bytes);
  return lane === undefined ? -1 : lane;
}

// Where a lane's load read a byte: {f, address}, null if it took no part.
function readAt(warp, { step, byte }, lane) {
  const w = here().warps[warp];
  for (const i of requestsOf(w, step)) {
    const f = here().footprints[w.footprint[i]];
    if (f.mask >>> lane & 1) return { f, address: w.base[i] + f.distance[lane] + byte };
  }
  return null;
}

// The element that a store wrote at an address, where it had come from global memory.
function elementStored(event, address) {
  const { f, base, warp, step } = event, lane = laneAt(f, base, address);
  if (lane < 0) return null;
  const { name, from } = registersOf(opAt(warp, step)), values = from[from.length - 1];
  const within = address - base - f.distance[lane], bytes = typeBytes(name);
  const register = values[Math.floor(within / bytes)];
  const origin = register && originOf(warp, step, register, lane, within % bytes);
  const read = origin && readAt(warp, origin, lane);
  return read && read.f.space === 'global' ? element(here(), read.f.tensor, read.address) : null;
}

// What a lane of the cursor's warp has in a register: {name, index, text, step} of the element, or
// of the place in shared memory that it was read from, as that was at the load; null if it was
// computed.
function valueOf(register, lane) {
  const origin = originOf(cursor.warp, cursor.step, register, lane);
  const read = origin && readAt(cursor.warp, origin, lane);
  if (!read) return null;
  const { step } = origin;
  if (read.f.space === 'global') return { ...element(here(), read.f.tensor, read.address), step };
  const time = warpHere().time[step];
  const found = memory.elementAt(read.address, time), event = memory.eventAt(read.address, time);
  if (found) return { ...found, step };
  const byte = read.address - here().shared_base;
  const name = event && memory.nameOf(event) || 'shared memory';
  return { name, index: [byte], text: `${name}, byte ${grouped(byte)}`, step };
}

// ---- What a multiplication multiplies -----------------------------------------------------------

const MULTIPLIES = /^(fma|mul)\.(rn\.)?(ftz\.)?f32$/;

// The distinct values of an operand in order, and which of their indices differ.
function distinctValues(values) {
  const byText = new Map(values.map(v => [v.text, v]));
  const list = [...byText.values()].sort((a, b) => {
    const at = a.index.findIndex((n, i) => n !== b.index[i]);
    return at < 0 ? 0 : a.index[at] - b.index[at];
  });
  const differs = list[0].index.map((n, i) => list.some(v => v.index[i] !== n));
  const title = list.length === 1 ? list[0].text : list[0].name + list[0].index
    .map((n, i) => `[${differs[i] ? '…' : n}]`).join('');
  const short = v => v.index.filter((n, i) => differs[i]).join(' ') || '';
  return { list, title, short };
}

function operandsFigure(op) {
  const { name, to, from } = registersOf(op);
  if (!MULTIPLIES.test(name) || from.length < 2) return null;
  const lanes = lanesOf(warpHere().mask[cursor.step]).map(lane =>
    ({ lane, values: from.slice(0, 2).map(([register]) => valueOf(register, lane)) }));
  if (lanes.some(({ values }) => values.some(v => !v))) return null;
  const operands = [0, 1].map(i => ({ i, ...distinctValues(lanes.map(l => l.values[i])) }));
  const [down, across] = operands.sort((a, b) => a.list.length - b.list.length);
  const at = new Map();
  for (const { lane, values } of lanes) {
    const key = `${values[down.i].text} ${values[across.i].text}`;
    at.set(key, [...(at.get(key) || []), lane]);
  }
  const left = 110, width = Math.min(46, Math.floor(720 / across.list.length)), height = 20;
  const svg = drawing(left + across.list.length * width + 4, 40 + down.list.length * height,
    'Operands');
  words(svg, left, 11, across.title, 'strong');
  for (const [c, value] of across.list.entries())
    words(svg, left + c * width + width / 2, 28, across.short(value), 'faint small', 'middle');
  for (const [r, one] of down.list.entries()) {
    words(svg, left - 8, 34 + r * height + 14, one.text, 'small', 'end');
    for (const [c, other] of across.list.entries()) {
      const list = at.get(`${one.text} ${other.text}`) || [];
      cell(svg, left + c * width, 34 + r * height, width, height, list.length
        ? { text: lanesText(list, width), lanes: list,
          tip: `lane ${list.join(', ')}: ${one.text} × ${other.text}` } : { kind: 'empty' });
    }
  }
  const loaded = [down, across].map(({ list: [value] }) => goTo(cursor.warp, value.step,
    `${value.name}: line ${lineOf(cursor.warp, value.step)}`));
  return titled('Operands.', 'Each lane multiplies what it has in its registers: ' +
    `${down.list[0].name} down by ${across.list[0].name} across; the ` +
    `${/^fma/.test(name) ? 'sum' : 'product'} is in ${to[0]}.`, svg,
  make('p', 'events', ['loaded at', ...loaded]));
}
