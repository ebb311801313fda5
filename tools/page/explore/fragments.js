// Fragments: which lane and register holds which element of ldmatrix, mma and wgmma. Where an
// element is comes from the record, not from a formula here.

const FRAGMENT_CELL = { width: 21, height: 17 };

// Elements of a fragment by row and column: {lane, register, half}.
function elementsOf(fragment) {
  const { registers, halves, places } = fragment, list = [];
  let i = 0;
  for (let register = 0; register < registers; register++)
    for (let lane = 0; lane < 32; lane++)
      for (let half = 0; half < halves; half++, i += 2)
        list.push({ row: places[i], column: places[i + 1], lane, register, half, halves });
  return list;
}

const halfName = e => e.halves === 1 ? '' : e.half ? ', upper half' : ', lower half';

// A grid of the fragment's elements at (x, y) of a drawing; each has its lane, in the colour of its
// register. `names` are the PTX registers, `name` the matrix.
function drawFragment(svg, x, y, fragment, { name, letter, names = [], swap = false }) {
  const { width, height } = FRAGMENT_CELL;
  const elements = elementsOf(fragment);
  const rows = 1 + Math.max(...elements.map(e => swap ? e.column : e.row));
  const columns = 1 + Math.max(...elements.map(e => swap ? e.row : e.column));
  for (let c = 0; c < columns; c++)
    words(svg, x + c * width + width / 2, y - 4, String(c), 'faint small', 'middle');
  for (let r = 0; r < rows; r++)
    words(svg, x - 5, y + r * height + height / 2 + 4, String(r), 'faint small', 'end');
  for (const e of elements) {
    const row = swap ? e.column : e.row, column = swap ? e.row : e.column;
    const register = `${letter}${e.register}`;
    const ptx = names[e.register] ? ` (${names[e.register]})` : '';
    const node = cell(svg, x + column * width, y + row * height, width, height, {
      text: String(e.lane), lanes: [e.lane], kind: `register r${e.register % 4}`,
      tip: `${name}[${row}][${column}]: lane ${e.lane}, ${register}${ptx}${halfName(e)}`,
    });
    node.dataset.element = `${name} ${row} ${column}`;
    node.dataset.register = e.register;
    node.dataset.half = e.half;
  }
}

// The groups of registers of an instruction: mma a, {..}, {..} has one list for each operand.
function operandGroups(text) {
  const groups = [];
  const operands = text.replace(/^(@!?%\w+\s+)?\S+\s*/, '');
  for (const match of operands.matchAll(/\{([^}]*)\}|(%\w+)|(-?\d+)/g))
    groups.push(match[1] !== undefined ? match[1].split(',').map(r => r.trim()) : [match[0]]);
  return groups;
}

function mmaFigure(op) {
  const { width, height } = FRAGMENT_CELL, { fragments } = here();
  const [d, a, b] = operandGroups(op.text);
  const half = d.length === 2;
  const left = 24, gap = 34, top = 32, bx = left + 16 * width + gap, dx = bx + 8 * width + gap;
  const svg = drawing(dx + 8 * width + 4, top + 16 * height + 4, 'Fragments of mma');
  const names = op.phase === 'pv' ? ['P', 'V', 'O'] : op.phase === 'qk' ? ['Q', 'Kᵀ', 'S']
    : ['A', 'B', 'D'];
  words(svg, left, 11, `A = ${names[0]}  [row][k]`, 'strong');
  drawFragment(svg, left, top, fragments.A, { name: names[0], letter: 'a', names: a });
  words(svg, bx, 11, `B = ${names[1]}  [k][column]`, 'strong');
  drawFragment(svg, bx, top, fragments.B, { name: names[1], letter: 'b', names: b });
  words(svg, dx, 11, `D = ${names[2]}  [row][column]`, 'strong');
  drawFragment(svg, dx, top, half ? fragments['half sum'] : fragments.sum,
    { name: names[2], letter: 'c', names: d });
  return titled('Fragments.', 'The number is the lane, the tint the register; rows, columns and ' +
    'k are of this one instruction. Click an element to follow it.', svg);
}

// ---- Where a value goes -------------------------------------------------------------------------

const VALUE_OPS = /^(mul|fma|sub|ex2|cvt|mov|selp|prmt|shl|neg|min)\b|^add\.(rn\.|ftz\.)*f32/;
const registersIn = text => text.match(/%\w+/g) || [];

// Follows register `name` from instruction `from` on, through arithmetic on that value alone (not
// through maxima, sums and shuffles), to the A operand of a product: {op, register, half}.
function followIntoProduct(from, name) {
  const { ops } = here(), value = new Map([[name, null]]); // register: its half there
  for (let n = 1; n < ops.length; n++) {
    const index = (from + n) % ops.length, { text, kind } = ops[index];
    const code = text.replace(/^@!?%\w+\s+/, '');
    if (kind === 'mma' || kind === 'wgmma') {
      const a = operandGroups(code)[1] || [];
      const register = a.findIndex(r => value.has(r));
      if (register >= 0 && a.length > 1)
        return { index, register, half: value.get(a[register]) || 0 };
      continue;
    }
    if (!VALUE_OPS.test(code)) continue;
    const [to, ...sources] = operandGroups(code).flat().filter(r => r.startsWith('%'));
    const at = sources.findIndex(r => value.has(r));
    if (at < 0 || (/^add/.test(code) && sources.length > 1)) {
      if (value.has(to)) value.delete(to); // written anew
      continue;
    }
    const packs = /^cvt\.rn\.(bf|f)16x2/.test(code);
    value.set(to, packs ? (at === 0 ? 1 : 0) : value.get(sources[at]));
  }
  return null;
}

// What the chosen element of a sum becomes: a sentence with a button, null if it is no product's.
function destiny(op, index, names, chosen) {
  const found = followIntoProduct(index, names[chosen.register]);
  if (!found) return null;
  const target = here().ops[found.index];
  const place = elementsOf(here().fragments.A).find(e => e.lane === chosen.lane &&
    e.register === found.register && e.half === found.half);
  const step = nextStep(warpHere(), cursor.step, 1, [found.index]);
  const side = found.half ? 'upper' : 'lower';
  const what = `Its P enters ${PHASES[target.phase]} as operand A, element [${place.row}]` +
    `[${place.column}]: register a${found.register}, ${side} half, of the same lane.`;
  const line = make('p', 'destiny', what);
  if (step >= 0) line.append(' ', goTo(cursor.warp, step, `line ${target.line}`));
  return line;
}

// ---- ldmatrix -----------------------------------------------------------------------------------

function ldmatrixFigure(op, matrices) {
  const { width, height } = FRAGMENT_CELL, turned = /\.trans/.test(op.text);
  const names = operandGroups(op.text)[/^ld/.test(op.text) ? 0 : 1] || [];
  const svg = drawing(40 + matrices * (8 * width + 34), 42 + 8 * height, 'Matrices of ldmatrix');
  for (let m = 0; m < matrices; m++) {
    const x = 28 + m * (8 * width + 34);
    words(svg, x, 10, `matrix ${m}: register ${names[m] || m}`, 'strong');
    drawFragment(svg, x, 32, here().fragments.matrix,
      { name: `matrix ${m}`, letter: 'r', names: [names[m]], swap: turned });
  }
  return titled('Who gets what.', `Rows are as in shared memory; row r of matrix m is at the ` +
    `address of lane 8m + r.${turned ? ' Transposed: a lane gets two rows of one column.' : ''}`,
  svg);
}

// ---- wgmma --------------------------------------------------------------------------------------

function descriptorTable(name, d) {
  const { shared_base: base } = here();
  return titled(`Descriptor of ${name}.`, '64 bits that say where the tile is:', table([
    ['as a number', `0x${d.bits}`],
    ['start address', `${hex(d.address)}, byte ${grouped(d.address - base)} of shared memory`],
    ['leading offset', `${grouped(d.leading)} bytes`],
    ['stride offset', `${grouped(d.stride)} bytes: to the next 8 rows`],
    ['base offset', d.base_offset],
    ['swizzle', d.swizzle ? `${d.swizzle} bytes` : 'none'],
  ]));
}

// The first lines of 128 bytes that a tile touches, with the row and k of each 16-byte chunk.
function chunksFigure(name, d) {
  const layout = here().layouts[d.layout], size = { width: 84, height: 18 }, most = 16;
  const at = new Map();
  for (const [i, offset] of layout.entries()) {
    const block = i >> 4, half = i >> 3 & 1, line = i & 7;
    at.set(d.address + offset, d.transposed
      ? `k ${8 * half + line}, ${8 * block}–${8 * block + 7}`
      : `${8 * block + line}, k ${8 * half}–${8 * half + 7}`);
  }
  const lines = [...new Set([...at.keys()].map(a => a >> 7))].sort((a, b) => a - b);
  const shown = lines.slice(0, most);
  const svg = drawing(70 + 8 * size.width, 24 + shown.length * size.height, `Bytes of ${name}`);
  for (let chunk = 0; chunk < 8; chunk++)
    words(svg, 66 + chunk * size.width + size.width / 2, 10, `byte ${16 * chunk}`, 'faint small',
      'middle');
  for (const [r, line] of shown.entries()) {
    const y = 18 + r * size.height;
    words(svg, 60, y + 13, hex(line * 128), 'faint small', 'end');
    for (let chunk = 0; chunk < 8; chunk++) {
      const address = line * 128 + 16 * chunk, text = at.get(address) || '';
      const group = cell(svg, 66 + chunk * size.width, y, size.width, size.height,
        { text, kind: text ? 'read' : 'empty', tip: () => memory.describe(address) });
      group.dataset.address = address;
    }
  }
  const rest = lines.length - shown.length;
  return titled(`Bytes of ${name} that this step reads:`,
    `${bytesText(16 * layout.length)} in ${lines.length} lines of 128 bytes` +
    `${rest > 0 ? `, the first ${most} of them here` : ''}; in each chunk its ` +
    `${d.transposed ? 'k and columns' : 'row and columns of k'}.`, svg);
}

function wgmmaFigures(op, product) {
  const { width, height } = FRAGMENT_CELL, { fragments } = here(), figures = [];
  const names = op.phase === 'pv' ? ['P', 'V', 'O'] : ['Q', 'K', 'S'];
  const groups = operandGroups(op.text);
  figures.push(descriptorTable(names[1], product.b), chunksFigure(names[1], product.b));
  if (product.a) figures.push(descriptorTable(names[0], product.a),
    chunksFigure(names[0], product.a));
  const left = 30, dx = product.a ? left : left + 16 * width + 46, top = 30;
  const svg = drawing(dx + 8 * width + 12, top + 16 * height + 8, 'Fragments of wgmma');
  if (!product.a) {
    words(svg, left, 10, `A = ${names[0]}  [row][k]`, 'strong');
    drawFragment(svg, left, top, fragments.A, { name: names[0], letter: 'a', names: groups[1] });
  }
  words(svg, dx, 10, `D = ${names[2]}  [row][column]`, 'strong');
  drawFragment(svg, dx, top, fragments.sum, { name: names[2], letter: 'd', names: groups[0] });
  figures.push(titled('Registers.', `The warp holds rows ${16 * (cursor.warp % 4)} to ` +
    `${16 * (cursor.warp % 4) + 15} of 64: ${product.n / 8} blocks of 8 columns like this one, ` +
    'four registers each.', svg));
  return figures;
}
