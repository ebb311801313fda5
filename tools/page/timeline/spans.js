// The record of a run as the page uses it: warps, their spans, what is in flight.
// common/cli/spans.h says what its keys are.

const record = data('record'), order = data('order'), kernel = data('source');
const run = record.stamped;

// What a span's label reads as, and the colour it has.
const LABELS = {
  'copy': ['copy', 'copy'], 'QK': ['Q Kᵀ', 'qk'], 'softmax': ['softmax', 'softmax'],
  'PV': ['P V', 'pv'], 'PV+softmax': ['P V and softmax', 'mixed'], 'store': ['store', 'store'],
  'wait': ['wait', 'wait'], 'other': ['other', 'other'],
};
const PRODUCTS = ['QK', 'PV', 'PV+softmax'];
const textOf = label => LABELS[label][0], tintOf = label => LABELS[label][1];

const openMarks = marks => marks.map(([label, line, issues, keeps]) =>
  ({ label, line, issues, keeps }));

// A warp: span i has mark[i] and lasts from time[i] to time[i + 1].
function openWarp(raw) {
  const spans = raw.stamps.length / 2 - 1;
  const warp = { block: raw.block, warp: raw.warp, full: raw.full, spans: Math.max(0, spans),
    time: [], mark: [] };
  for (let i = 0, time = 0; i < raw.stamps.length; i += 2) {
    warp.time.push(time += raw.stamps[i]);
    if (i / 2 < spans) warp.mark.push(raw.stamps[i + 1]);
  }
  return warp;
}

// The groups of wgmma that a warp has issued, each from the span that issues it to the end of the
// one that waits for it: groups end in order.
function flightsOf(warp, marks) {
  const flights = [], open = [];
  for (let i = 0; i < warp.spans; i++) {
    const { label, issues, keeps } = marks[warp.mark[i]];
    if (issues) {
      const flight = { label, first: i, start: warp.time[i], end: warp.time[warp.spans] };
      flights.push(flight);
      open.push(flight);
    }
    while (keeps >= 0 && open.length > keeps) open.shift().end = warp.time[i + 1];
  }
  return flights;
}

// Overlapping intervals [start, end] made one, in order.
function merged(intervals) {
  const list = [];
  for (const [start, end] of intervals.slice().sort((a, b) => a[0] - b[0])) {
    const last = list[list.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end); else list.push([start, end]);
  }
  return list;
}

// How much of [start, end] merged intervals cover.
function covered(intervals, start, end) {
  let low = 0, high = intervals.length, sum = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle][1] <= start) low = middle + 1; else high = middle;
  }
  for (; low < intervals.length && intervals[low][0] < end; low++)
    sum += Math.min(end, intervals[low][1]) - Math.max(start, intervals[low][0]);
  return sum;
}

// What each warp is for: with a wgmma a warpgroup is a role of its own. Of the others, one that is
// there at the block's first product produces, and one that has left by then is idle.
function giveRoles(warps, marks, anyIssues) {
  const multiplies = mark => PRODUCTS.includes(marks[mark].label);
  const firstOf = ({ time, mark }) => time[mark.findIndex(multiplies)] ?? Infinity;
  for (const warp of warps) {
    const beside = warps.filter(other => other.block === warp.block);
    const first = Math.min(...beside.map(firstOf));
    if (firstOf(warp) < Infinity) warp.role = anyIssues ? `warpgroup ${warp.warp >> 2}` : 'warps';
    else if (first === Infinity && warp.spans) warp.role = 'warps'; // the block has just begun
    else warp.role = warp.time[warp.spans] > first ? 'producer' : 'idle';
  }
}

function openRecord(raw) {
  const marks = openMarks(raw.marks), anyIssues = marks.some(mark => mark.issues > 0);
  const warps = raw.warps.map(openWarp);
  for (const warp of warps) warp.flights = flightsOf(warp, marks);
  giveRoles(warps, marks, anyIssues);
  // The times in which a product of a warp is under way.
  const products = warp => anyIssues ? warp.flights.map(flight => [flight.start, flight.end])
    : warp.mark.flatMap((mark, i) => PRODUCTS.includes(marks[mark].label)
      ? [[warp.time[i], warp.time[i + 1]]] : []);
  return { ...raw, marks, warps, anyIssues,
    own: merged(warps.filter(warp => warp.block === raw.block).flatMap(products)),
    all: merged(warps.flatMap(products)) };
}

const clock = openRecord(record);
const simulated = run.simulated;

// The first index of an ascending list whose value is above `value`.
function upperBound(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
}

// The span that a warp is in at a time, or the nearest.
const spanAt = (warp, time) => clamp(upperBound(warp.time, time) - 1, 0, warp.spans - 1);
