// The test of a comparison: opened with #test it drives itself by real events and leaves TAP.

function selfTest() {
  const lines = [];
  const check = (good, what, why = '') => {
    lines.push(`${good ? '' : 'not '}ok ${lines.filter(l => !l.startsWith('#')).length + 1} - ` +
      `${from.name} ${to.name}: ${what}`);
    if (!good && why !== '') lines.push(`# ${why}`);
  };
  const press = key => document.body.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true }));
  const inOrder = list => list.every((value, i) => value === i);
  check(inOrder(rows.map(r => r.left).filter(i => i >= 0)) &&
    rows.filter(r => r.left >= 0).length === from.source.length, 'the left has all lines in order');
  check(inOrder(rows.map(r => r.right).filter(i => i >= 0)) &&
    rows.filter(r => r.right >= 0).length === to.source.length, 'the right has all lines in order');
  check(rows.every(r => r.kind !== 'same' || from.source[r.left] === to.source[r.right]),
    'what stands as equal is equal');
  check(rows.every(r => r.kind !== 'moved' || r.elsewhere >= 0), 'a moved line knows where to');
  for (const side of [from, to]) {
    const sum = [...side.lines.values()].reduce((all, line) => all + line.executions, 0);
    check(sum === side.counters.warp_instructions, `${side.name}: the margins add up`,
      `${sum}, counted ${side.counters.warp_instructions}`);
  }
  const ratios = [...document.querySelectorAll('#sums b')].map(b => b.textContent).join('');
  check(faulted ? ratios === '' : /[=×÷]/.test(ratios) && ratioText(1e6, 3) === '÷ 333,333',
    'there are ratios of whole runs, written out', ratios);
  for (const open of [true, false]) {
    byId('tables').open = open;
    check(byId('pair').clientHeight > innerHeight / 4,
      `the sources have their place on the page${open ? ', also beside the tables' : ''}`,
      `${byId('pair').clientHeight} of ${innerHeight} pixels`);
  }
  check(rows.every((row, i) => equal(row) || document.querySelector(`[data-row="${i}"]`)),
    'no line with other counters is folded');
  const folds = document.querySelectorAll('.folded').length;
  press('f');
  check(document.querySelectorAll('.folded').length === 0 &&
    document.querySelectorAll('.pair-row').length === rows.length, 'f unfolds all lines');
  const shown = (place, i) => document.querySelector(`[data-row="${i}"] .${place} .text`);
  const changed = rows.flatMap((row, i) => row.kind !== 'changed' ? [] : [
    { text: shown('left', i), line: from.source[row.left] },
    { text: shown('right', i), line: to.source[row.right] }]);
  check(changed.every(({ text, line }) => text.textContent === line),
    'a changed line has all its words in order');
  check(changed.every(({ text, line }) =>
    text.querySelectorAll('span').length === coloured(line).filter(part => part.className).length),
  'and its colours');
  check(!changed.length || changed.some(({ text }) => text.querySelector('mark')),
    'and what differs is marked');
  press('f');
  check(document.querySelectorAll('.folded').length === folds, 'and folds them again');
  press('n');
  check(document.querySelector('.pair-row.here') !== null || !changes.length,
    'n goes to the first change');
  const at = markedRow();
  press('f');
  press('f');
  check(!changes.length || markedRow() === at, 'the marked line stays marked');
  if (changes.length > 2) showRow(changes[1]);
  press('n');
  check(changes.length < 3 || markedRow() === changes[2], 'and n goes on from there');
  const inView = () => {
    const { top, bottom } = document.querySelector('.pair-row.here').getBoundingClientRect();
    return top >= 0 && bottom < innerHeight + 1;
  };
  showRow(rows.length - 1);
  check(inView(), 'what is gone to is in view');
  for (let i = 0; i < 60; i++) press('ArrowUp');
  check(inView(), 'and stays so line by line');
  const busiest = [...to.lines.entries()].filter(([line]) => line > 0)
    .reduce((a, b) => b[1].executions > a[1].executions ? b : a)[0];
  showRow(rows.findIndex(r => r.right === busiest - 1));
  document.querySelector('.pair-row.here .right .text').click();
  const open = document.querySelector('.machines');
  check(open && open.querySelectorAll('.machine')[1].querySelectorAll('.ptx').length ===
    Math.min(400, to.ptx.get(busiest).length), 'a click on a line opens its PTX');
  check(!to.sass || open.querySelectorAll('.machine')[1].querySelectorAll('.sass').length > 0,
    'and its SASS');
  press('ArrowUp');
  press('ArrowDown');
  press('Enter');
  check(!document.querySelector('.machines'), 'the keys choose a line, too, and close it');
  press('Enter');
  check(document.querySelector('.pair-row.here + .machines') !== null, 'and open it');
  check(document.documentElement.scrollWidth <= innerWidth, 'nothing is wider than the window');
  lines.push(`1..${lines.filter(l => !l.startsWith('#')).length}`);
  const out = make('pre', '', lines.join('\n'));
  out.id = 'tap';
  document.body.append(out);
}

if (location.hash === '#test') selfTest();
