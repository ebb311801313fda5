// What a line does, by the comments that name the phases of a kernel and by its helpers' names. The
// stages use the same words for the same phase.

const PHASES = {
  copy: 'copy', qk: 'Q Kᵀ', softmax: 'softmax', pv: 'P V', store: 'store', wait: 'wait',
  other: 'other',
};

const COMMENTS = [
  ['pv', /O_i = O_i \+ P|last P V|A operands of P V/],
  ['qk', /S_ij = (scale \* )?Q|first Q K/],
  ['softmax',
    /m_i = max|P_ij = exp|rowsum|rowmax|S_ij = -inf|scale_i \* O_i|Sum and maximum|outgrown/],
  ['store', /O_i = O_i \/ l_i|inverse = 1|O_i = inverse|to memory/],
  ['copy', /^\s*\/\/ .*\b[Cc]op(y|ies)\b|fetch/],
  ['wait', /^\s*\/\/ .*\b[Ww]aits?\b/],
];
const NAMES = [
  ['qk', /^(product_QK|scores)$/], ['pv', /^(product_PV|output)$/],
  ['softmax', /^(softmax|exponentials|pack_P|mask|row_(max|sum)|outgrown|into_range)$/],
  ['softmax', /^(update_maxima|rescale|scale_P)$/],
  ['store', /^(store_O|finish_rows|tma_store)/], ['copy', /^(load_tile|tma_load)/],
  ['wait', /wait|release|^sync_|mbarrier/],
];
const KINDS = {
  'barrier': 'wait', 'mbarrier': 'wait', 'wait, fence, other': 'wait',
  'cp.async': 'copy', 'bulk load (TMA)': 'copy',
  'bulk store (TMA)': 'store', 'global store': 'store',
};

const first = (table, text) => (table.find(([, pattern]) => pattern.test(text)) || [null])[0];

// The phase of every line of a file, null where none is named. A comment counts until the next one
// that names a phase or begins a section (// ----), at most to the end of its function: the brace,
// whose line has the return of every warp, is in no phase.
function phasesOfLines(source) {
  const phases = [null];
  let inside = null, pending = null;
  for (const line of source) {
    const comment = /^\s*\/\//.test(line);
    const opens = line.match(/^(?:template.*|static.*?|\s+)?\b(\w+)\s*\((?!.*;\s*$)/);
    if (!/^\s/.test(line) && !comment && opens) inside = first(NAMES, opens[1]) || pending;
    if (/^\s*\/\/ ----/.test(line)) inside = null;
    else if (comment && first(COMMENTS, line)) {
      if (/^\s/.test(line)) inside = first(COMMENTS, line); else pending = first(COMMENTS, line);
    }
    if (!comment && !opens) pending = /^\s/.test(line) ? pending : null;
    if (/^\}/.test(line)) inside = pending = null;
    phases.push(inside);
    if (/^(static|template).*\}$/.test(line)) inside = pending = null;
  }
  return phases;
}

// The phase of an instruction: its kind's, else that of the innermost line that has one.
const linePhases = new Map();
function phaseOf(launch, op) {
  if (!linePhases.has(launch)) linePhases.set(launch, phasesOfLines(launch.source));
  if (KINDS[op.kind]) return KINDS[op.kind];
  const lines = linePhases.get(launch);
  const line = op.lines.find(l => lines[l]), named = line === undefined ? null : lines[line];
  const whole = first(NAMES, launch.kernel); // a kernel that is one phase, but for its copies
  if (named === 'copy' || named && !whole) return named;
  return whole || (op.kind === 'global load' ? 'copy' : 'other');
}
