// Drawings of the lanes view: SVG, in colours of the style sheet.

const SVG = 'http://www.w3.org/2000/svg';

function shape(tag, attributes = {}, text = '') {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== '') node.textContent = text;
  return node;
}

function drawing(width, height, label) {
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  svg.style.maxWidth = `${width}px`;
  svg.style.setProperty('--least', `${0.75 * width}px`); // smaller, its numbers cannot be read
  return svg;
}

// What is shown under the pointer: a text, or a function that makes it when it is needed.
const tips = new WeakMap();
const tipOf = node => typeof tips.get(node) === 'function' ? tips.get(node)() : tips.get(node);

const DIGIT = 7.4; // pixels at most, of a font of 11

// A cell with text in its middle, small enough to fit; `lanes` are those that it belongs to.
function cell(svg, x, y, width, height, { text = '', lanes = [], kind = '', tip = '' }) {
  const group = shape('g', { class: `cell ${kind}` });
  if (lanes.length) {
    group.dataset.lanes = lanes.join(' ');
    group.style.setProperty('--lane', `var(--lane-${lanes[0] % 8})`);
    if (lanes.includes(cursor.lane)) group.classList.add('chosen');
  }
  if (tip) tips.set(group, tip);
  group.append(shape('rect', { x, y, width: width - 1, height: height - 1, rx: 2 }));
  if (text !== '') {
    const size = Math.min(11, 11 * (width - 2) / (DIGIT * text.length));
    group.append(shape('text', { x: x + width / 2 - 0.5, y: y + height / 2 + 0.5,
      ...size < 11 ? { style: `font-size:${size.toFixed(1)}px` } : {} }, text));
  }
  svg.append(group);
  return group;
}

function words(svg, x, y, text, kind = '', anchor = 'start') {
  svg.append(shape('text', { x, y, class: `words ${kind}`, 'text-anchor': anchor }, text));
}

// A title above a drawing, with a sentence beside it.
function titled(title, sentence, ...content) {
  return make('figure', '', [
    make('figcaption', '', [make('b', '', title), ` ${sentence}`]), ...content]);
}

// Rows of [name, value] as a table; a value may be a node.
function table(rows, kind = 'facts') {
  const body = make('tbody', '', rows.map(cells =>
    make('tr', '', cells.map((content, i) =>
      make(i ? 'td' : 'th', '', content instanceof Node ? [content] : String(content))))));
  return make('table', kind, [body]);
}

// A button that moves the cursor to a step of a warp.
function goTo(warp, step, text) {
  const button = make('button', 'go', text);
  button.type = 'button';
  button.dataset.warp = warp;
  button.dataset.step = step;
  return button;
}

const lineOf = (warp, step) => opAt(warp, step).line;
