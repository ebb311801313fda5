// Opened with #test, the page drives itself by real events and leaves TAP.

// The softmax of some warps under a product of their block, moment by moment.
function slowlyCovered(warps) {
  const under = new Uint8Array(clock.cycles + 1);
  for (const [start, end] of clock.own) under.fill(1, start, end);
  let sum = 0;
  for (const warp of warps)
    for (let i = 0; i < warp.spans; i++)
      if (clock.marks[warp.mark[i]].label === 'softmax')
        for (let t = warp.time[i]; t < warp.time[i + 1]; t++) sum += under[t];
  return sum;
}

async function testPage() {
  const lines = [];
  const ok = (good, name, note = '') => {
    lines.push(`${good ? 'ok' : 'not ok'} ${lines.length + 1} - ${name}`);
    if (!good && note !== '') lines[lines.length - 1] += `\n# ${note}`;
  };
  const press = key => document.dispatchEvent(new KeyboardEvent('keydown', { key }));
  const painted = () => {
    const canvas = byId('time-base');
    const { data: pixels } = canvas.getContext('2d').getImageData(0, 0, canvas.width,
      canvas.height);
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 16)
      if (pixels[i + 3] === 255) colours.add(pixels.slice(i, i + 3).join());
    return colours.size;
  };

  // ---- What the record says -----------------------------------------------------------------
  const mine = clock.warps.filter(warp => warp.block === clock.block);
  ok(mine.length > 0 && timeline.rows.length > 0, 'the block has warps, and they have rows');
  ok(clock.warps.every(warp => warp.time.every((t, i) => !i || t >= warp.time[i - 1])),
    'no span ends before it begins');
  ok(mine.every(warp => warp.time[0] >= 0 && warp.time[warp.spans] <= clock.cycles),
    'the block\'s spans lie in its life');
  const texts = clock.marks.filter(mark => mark.label !== 'end').map(mark => mark.label);
  ok(texts.every(label => LABELS[label]), 'every label has a text and a colour', texts.join());
  ok(clock.marks.every(mark => mark.line > 0 && mark.line <= kernel.lines.length),
    'every mark is a line of the kernel');
  for (const [role, warps] of rolesOf(clock)) {
    const shares = byMark(clock, warps).reduce((sum, row) => sum + row.share, 0);
    const sum = sumOf(clock, warps);
    ok(Math.abs(shares - 1) < 1e-9, `${role}: the shares by line are all of its time`, shares);
    const labels = Object.keys(sum.time).reduce((all, label) => all + shareOf(sum, label), 0);
    ok(Math.abs(labels - 1) < 1e-9, `${role}: so are those by label`, labels);
    ok(sum.own === slowlyCovered(warps), `${role}: the softmax under a product, added up slowly`,
      sum.own);
    ok(sum.own <= sum.all && sum.all <= (sum.time.softmax || 0),
      `${role}: no more softmax under a product than there is`);
  }
  if (mine.length > 8)
    ok(['producer', 'idle'].every(role => mine.some(warp => warp.role === role)),
      'of the warps that do not multiply some produce, others leave');
  if (clock.anyIssues) {
    const issued = warp => warp.mark.filter(mark => clock.marks[mark].issues).length;
    ok(mine.every(warp => warp.flights.length === issued(warp)), 'each issue is a flight');
    ok(mine.every(warp => warp.flights.every(f => f.end > f.start)), 'each flight lasts');
    ok(timeline.bars.length > 0, 'wgmmas in flight are drawn');
  }

  // ---- The views ------------------------------------------------------------------------------
  ok(painted() >= 4, 'the tracks are drawn in several colours', painted());
  const boxOf = id => byId(id).getBoundingClientRect();
  ok(boxOf('time-base').top === boxOf('time-cursor').top && boxOf('clock-sums').left >=
    boxOf('code').right, 'the cursor lies over the tracks, the sums beside the code');
  ok(byId('legend').children.length >= 4, 'there is a legend');
  ok(/order and waits|stamps .* they cost/.test(byId('cost').textContent),
    'it says what the picture costs, or that it is an order', byId('cost').textContent);
  ok(document.querySelectorAll('#lines .marked').length >= 4, 'the marks stand at their lines');
  ok(document.querySelectorAll('#by-label tbody tr').length >= 4, 'time by label is a table');
  ok(byId('findings').textContent.includes('%'), 'how much lies under a product is said');
  const numbers = [...document.querySelectorAll('#head, #cost, #findings, #where, td.count, ' +
    'td.share-cell')].map(node => node.textContent).join(' ');
  ok(!/NaN|undefined|Infinity/.test(numbers), 'no number is missing');

  // ---- The cursor -----------------------------------------------------------------------------
  const at = cursor.span, said = byId('where').textContent;
  press('ArrowRight');
  ok(cursor.span === at + 1 && byId('where').textContent !== said, 'right is the next span');
  press('ArrowLeft');
  ok(cursor.span === at, 'left goes back');
  const time = rowHere().warp.time[cursor.span];
  press('ArrowDown');
  ok(cursor.row === 1 || timeline.rows.length === 1, 'the down key is the next warp');
  ok(Math.abs(rowHere().warp.time[cursor.span] - time) < clock.cycles / 2,
    'at about the same time');
  press('ArrowUp');
  const mark = rowHere().warp.mark[cursor.span], before = cursor.span;
  press('n');
  ok(rowHere().warp.mark[cursor.span] === mark, 'n is a span of the same line');
  press('p');
  ok(cursor.span === before, 'p goes back');
  const span = timeline.to - timeline.from;
  press('+');
  ok(timeline.to - timeline.from < span, 'plus zooms in');
  press('0');
  ok(timeline.from === 0 && timeline.to === clock.cycles, '0 shows the whole block');
  const part = text => {
    history.replaceState(null, '', text);
    followHash();
    return `${timeline.from} ${timeline.to}`;
  };
  const { hash } = location, whole = `0 ${clock.cycles}`;
  ok(part('#from=20&to=90') === '20 90', 'the address names a part', part('#from=20&to=90'));
  press('0');
  for (const bad of ['from=&to=x', 'from=90&to=20', 'from=50&to=50', 'from=1e9', 'from=-9&to=1e9'])
    ok(part(`#${bad}`) === whole, `of ${bad} the whole block stays`, part(`#${bad}`));
  part(hash);
  const softmax = clock.marks.find(m => m.label === 'softmax' || m.label === 'PV+softmax');
  lineRows[softmax.line].click();
  ok(markHere().line === softmax.line && lineRows[softmax.line].classList.contains('selected'),
    'a click on a line goes to a span that begins there');
  const row = timeline.rows[timeline.rows.length - 1];
  const box = byId('time-cursor').getBoundingClientRect();
  const middleOf = (row.warp.time[0] + row.warp.time[row.warp.spans]) / 2;
  byId('time-cursor').dispatchEvent(new MouseEvent('click', { clientX: box.left +
    timeline.clampX(middleOf), clientY: box.top + row.y + 2, bubbles: true }));
  ok(cursor.row === timeline.rows.length - 1, 'a click on a row chooses a span of that warp');
  const button = document.querySelector('#tables .go');
  button.click();
  ok(rowHere().warp.mark[cursor.span] === Number(button.dataset.mark),
    'a line of the tables goes to its span');
  const scheme = () => getComputedStyle(document.documentElement).colorScheme, first = scheme();
  byId('theme').click();
  ok(scheme() !== first && painted() >= 4, 'the button draws the other theme', scheme());
  byId('theme').click();
  ok(scheme() === first, 'and the first one again');
  const wheel = more => new WheelEvent('wheel', { deltaY: 100, cancelable: true, ...more });
  ok(byId('time-cursor').dispatchEvent(wheel()), 'the wheel alone scrolls');
  ok(!byId('time-cursor').dispatchEvent(wheel({ ctrlKey: true })), 'with Ctrl it zooms');
  const svg = clockPicture();
  ok(/^<svg/.test(svg) && !/NaN|undefined/.test(svg), 'it is a picture, too');
  ok(/opacity="0.55"/.test(svg) === clock.anyIssues, 'with the wgmmas in flight, if there are any');
  return [...lines, `1..${lines.length}`].join('\n');
}
