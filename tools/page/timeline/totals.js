// Sums over the chosen block: what its warps do with their time, and what runs under a product.

const percent = share => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

// The roles of the block in order, each with its warps.
function rolesOf(opened) {
  const roles = new Map();
  for (const warp of opened.warps) {
    if (warp.block !== opened.block || warp.role === 'idle') continue;
    if (!roles.has(warp.role)) roles.set(warp.role, []);
    roles.get(warp.role).push(warp);
  }
  return roles;
}

// Time by label of some warps, all of it, and how much of the softmax lies under a product.
function sumOf(opened, warps) {
  const sum = { time: {}, whole: 0, own: 0, all: 0 };
  for (const warp of warps)
    for (let i = 0; i < warp.spans; i++) {
      const { label } = opened.marks[warp.mark[i]];
      const [start, end] = [warp.time[i], warp.time[i + 1]];
      sum.time[label] = (sum.time[label] || 0) + end - start;
      sum.whole += end - start;
      if (label !== 'softmax') continue;
      sum.own += covered(opened.own, start, end);
      sum.all += covered(opened.all, start, end);
    }
  return sum;
}

const shareOf = (sum, label) => sum.whole ? (sum.time[label] || 0) / sum.whole : 0;

// Time by mark of some warps: how often, how long in the middle, and all together.
function byMark(opened, warps) {
  const lasts = opened.marks.map(() => []);
  for (const warp of warps)
    for (let i = 0; i < warp.spans; i++) lasts[warp.mark[i]].push(warp.time[i + 1] - warp.time[i]);
  const whole = lasts.flat().reduce((a, b) => a + b, 0);
  return lasts.map((list, mark) => {
    list.sort((a, b) => a - b);
    const sum = list.reduce((a, b) => a + b, 0);
    return { ...opened.marks[mark], mark, count: list.length, share: whole ? sum / whole : 0,
      median: list.length ? list[list.length >> 1] : 0 };
  }).filter(row => row.count);
}

// The share of the block's life in which a product is under way: its own, or any on the SM.
function busy(opened) {
  const share = intervals => covered(intervals, 0, opened.cycles) / Math.max(1, opened.cycles);
  return { own: share(opened.own), all: share(opened.all) };
}

// Sentences for a reader, and for the test.
function findings(opened) {
  const { own, all } = busy(opened);
  const word = opened.anyIssues ? 'a wgmma is in flight' : 'a warp is in a product';
  const others = opened.warps.some(warp => warp.block !== opened.block);
  const list = [`${word}: ${percent(own)} of the block's life` +
    (others ? `; of this or another block on the SM ${percent(all)}` : '')];
  for (const [role, warps] of rolesOf(opened)) {
    const sum = sumOf(opened, warps), { softmax } = sum.time;
    const beside = others ? `, ${percent(sum.all / softmax)} under one of the SM` : '';
    if (softmax) list.push(`${role}: ${percent(sum.own / softmax)} of the softmax lies under a ` +
      `product of its block${beside}`);
    if (sum.time['PV+softmax'])
      list.push(`${role}: softmax and P V are one instruction stream for ` +
        `${percent(shareOf(sum, 'PV+softmax'))} of the time`);
  }
  if (opened.anyIssues)
    list.push('In flight is from the issue to the end of the wait for it. The product may be over' +
      ' earlier: these shares are upper bounds.');
  return list;
}
