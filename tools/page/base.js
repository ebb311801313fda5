// What the pages share: their data, elements, numbers as text, source in colours.

const data = id => JSON.parse(document.getElementById(`data-${id}`).textContent);
const byId = id => document.getElementById(id);
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// A number of what is after # in the address, or `other` if it is none.
function numberIn(hash, name, other) {
  return hash.get(name) && Number.isFinite(+hash.get(name)) ? +hash.get(name) : other;
}

const hex = number => `0x${number.toString(16)}`;
const grouped = new Intl.NumberFormat('en').format;
const plural = (number, word) => `${grouped(number)} ${word}${number === 1 ? '' : 's'}`;
function bytesText(bytes) {
  return bytes >= 1024 ? `${+(bytes / 1024).toFixed(2)} KiB` : `${bytes} B`;
}

// An element: make('span', 'class', 'text' or children).
function make(tag, className = '', content = '') {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (Array.isArray(content)) node.append(...content); else node.textContent = content;
  return node;
}

const KEYWORDS = new RegExp('(\\/\\/.*$)|("[^"]*")|\\b(const|constexpr|static|void|int|unsigned|' +
  'float|bool|char|size_t|element|if|else|for|while|return|continue|break|struct|typedef|enum|' +
  'template|true|false|NULL|extern|alignas|asm|volatile|uint64_t|uint32_t|__\\w+__)\\b|(^\\s*#.*$)',
'g');
const TOKENS = ['comment', 'string', 'keyword', 'directive'];

// A line of source, its comments and keywords marked.
function coloured(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(KEYWORDS)) {
    if (match.index < end) continue;
    parts.push(text.slice(end, match.index));
    const kind = TOKENS[match.slice(1).findIndex(group => group !== undefined)];
    parts.push(make('span', kind, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

// How many times the ideal, as text; '' where there is none.
function overIdeal(units, ideal) {
  if (!ideal) return '';
  const ratio = units / ideal;
  return ratio < 1.005 ? '1' : `${ratio < 9.95 ? +ratio.toFixed(1) : Math.round(ratio)}×`;
}

// The bar of a line's share: the line with most executions has the longest.
const barLength = (counts, most) => `${(100 * counts.executions / most).toFixed(1)}%`;

// Scrolls a list so that one of its rows is a third from the top, if it is not visible.
function keepInView(list, row) {
  const top = row.offsetTop, bottom = top + row.offsetHeight;
  const margin = 3 * row.offsetHeight;
  if (top < list.scrollTop + margin || bottom > list.scrollTop + list.clientHeight - margin)
    list.scrollTop = top - list.clientHeight / 3;
}

// Adds the counters of an instruction to those of its source line: instructions, wavefronts and
// sectors. `lines` is a map by line.
function addToLine(lines, op, counters) {
  const [executions, , , , units, ideal, second, secondIdeal] = counters;
  const line = lines.get(op.line) || {
    executions: 0, wavefronts: 0, idealWavefronts: 0, sectors: 0, idealSectors: 0,
  };
  lines.set(op.line, line);
  line.executions += executions;
  const shared = /^shared|matrix$/.test(op.kind);
  line.wavefronts += shared ? units : second;
  line.idealWavefronts += shared ? ideal : secondIdeal;
  line.sectors += shared ? 0 : units;
  line.idealSectors += shared ? 0 : ideal;
}

// ---- Light or dark ------------------------------------------------------------------------------

// What is drawn and not styled listens to `theme`.
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  window.dispatchEvent(new Event('theme'));
}

// A reader's choice holds for the next page, too, where the browser allows that.
function switchTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
  setTheme(dark ? 'light' : 'dark');
  try { localStorage.theme = dark ? 'light' : 'dark'; } catch { /* this page alone */ }
}
try { document.documentElement.dataset.theme = localStorage.theme || ''; } catch { /* none */ }
byId('theme').addEventListener('click', switchTheme);
