// Two sources line by line: which lines are the same, which were changed into which, which were
// moved, cut and added.

const bare = line => line.trim().replace(/\s+/g, ' ');
const wordsOf = line => line.match(/\w+|[^\w\s]|\s+/g) || [];

// The longest common subsequence of two lists with weights: pairs of indices. weight(i, j) is 0
// where the two may not be paired.
function bestPairs(rows, columns, weight) {
  const best = Array.from({ length: rows + 1 }, () => new Float64Array(columns + 1));
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--) {
      const w = weight(i, j);
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], w ? w + best[i + 1][j + 1] : 0);
    }
  const pairs = [];
  for (let i = 0, j = 0; i < rows && j < columns;) {
    const w = weight(i, j);
    if (w && best[i][j] === w + best[i + 1][j + 1]) pairs.push([i++, j++]);
    else if (best[i][j] === best[i + 1][j]) i++;
    else j++;
  }
  return pairs;
}

// How alike two lines are, from 0 to 1: by the words that they share.
function likeness(a, b) {
  const left = bare(a).match(/\w+/g) || [], right = bare(b).match(/\w+/g) || [];
  if (!left.length || !right.length) return 0;
  const counts = new Map();
  for (const word of left) counts.set(word, (counts.get(word) || 0) + 1);
  let shared = 0;
  for (const word of right) {
    const rest = counts.get(word) || 0;
    if (rest) {
      shared++;
      counts.set(word, rest - 1);
    }
  }
  return 2 * shared / (left.length + right.length);
}

// The lines between two equal ones: those that are alike are paired, but for those in `moved`,
// which are elsewhere word for word.
function alignGap(from, to, left, right, moved) {
  const alike = left.map(i => right.map(j => {
    if (moved.has(bare(from[i])) || moved.has(bare(to[j]))) return 0;
    const like = likeness(from[i], to[j]);
    return like >= 0.5 ? like : 0;
  }));
  const rows = [];
  let i = 0, j = 0;
  const skip = (untilLeft, untilRight) => {
    while (i < untilLeft) rows.push({ left: left[i++], right: -1, kind: 'cut' });
    while (j < untilRight) rows.push({ left: -1, right: right[j++], kind: 'added' });
  };
  for (const [a, b] of bestPairs(left.length, right.length, (x, y) => alike[x][y])) {
    skip(a, b);
    rows.push({ left: left[i++], right: right[j++], kind: 'changed' });
  }
  skip(left.length, right.length);
  return rows;
}

const SHORTEST_MOVED = 12; // characters: braces and their like are everywhere

// The texts of lines that have no partner on both sides.
function movedTexts(from, to, pairs) {
  const left = new Set(pairs.map(([i]) => i)), right = new Set(pairs.map(([, j]) => j));
  const cut = new Set(from.filter((line, i) => !left.has(i)).map(bare));
  return new Set(to.filter((line, j) => !right.has(j)).map(bare)
    .filter(text => text.length >= SHORTEST_MOVED && cut.has(text)));
}

// Cut lines that were added elsewhere, word for word, are moved: each knows the other.
function markMoved(rows, from, to) {
  const added = new Map();
  for (const row of rows) {
    const text = row.kind === 'added' ? bare(to[row.right]) : '';
    if (text.length >= SHORTEST_MOVED) added.set(text, [...(added.get(text) || []), row]);
  }
  for (const row of rows) {
    const [other] = row.kind === 'cut' ? added.get(bare(from[row.left])) || [] : [];
    if (!other) continue;
    added.get(bare(from[row.left])).shift();
    Object.assign(row, { kind: 'moved', elsewhere: other.right });
    Object.assign(other, { kind: 'moved', elsewhere: row.left });
  }
}

// What is cut and what is added in its place stand side by side.
function besides(rows) {
  const result = [];
  for (let i = 0; i < rows.length;) {
    let added = i;
    while (added < rows.length && rows[added].kind === 'cut') added++;
    let end = added;
    while (end < rows.length && rows[end].kind === 'added') end++;
    const both = Math.min(added - i, end - added);
    for (let n = 0; n < both; n++)
      result.push({ left: rows[i + n].left, right: rows[added + n].right, kind: 'replaced' });
    result.push(...rows.slice(i + both, added), ...rows.slice(added + both, end));
    if (end === i) result.push(rows[end++]);
    i = end;
  }
  return result;
}

// Rows of {left, right, kind}: indices of lines, -1 for none.
function align(from, to) {
  const equal = (i, j) => from[i] !== to[j] ? 0 : bare(from[i]) ? 1 + from[i].length / 100 : 0.1;
  const rows = [], pairs = bestPairs(from.length, to.length, equal);
  const moved = movedTexts(from, to, pairs);
  let i = 0, j = 0;
  const gap = (untilLeft, untilRight) => {
    const left = [], right = [];
    while (i < untilLeft) left.push(i++);
    while (j < untilRight) right.push(j++);
    rows.push(...alignGap(from, to, left, right, moved));
  };
  for (const [a, b] of pairs) {
    gap(a, b);
    rows.push({ left: i++, right: j++, kind: 'same' });
  }
  gap(from.length, to.length);
  markMoved(rows, from, to);
  return besides(rows);
}

// The words of two lines, each marked as shared or not: [{text, shared}] for both.
function compareWords(a, b) {
  const left = wordsOf(a), right = wordsOf(b);
  const pairs = bestPairs(left.length, right.length, (i, j) => left[i] === right[j] ? 1 : 0);
  const sharedLeft = new Set(pairs.map(([i]) => i)), sharedRight = new Set(pairs.map(([, j]) => j));
  return [left.map((text, i) => ({ text, shared: sharedLeft.has(i) })),
    right.map((text, j) => ({ text, shared: sharedRight.has(j) }))];
}
