// A paper that keeps as SVG what the timeline draws on a canvas, for print and for pictures. It has
// what the timeline uses of a canvas' context.

const CHARACTER = 6.4; // pixels, of a font of 11

const short = number => String(+number.toFixed(1));

function svgPaper(width, height, label) {
  const svg = drawing(width, height, label);
  svg.setAttribute('font-size', 11);
  let outline = '', fills = new Map(); // rectangles in one colour become one path

  function add(tag, attributes, text) {
    paper.flush();
    if (paper.globalAlpha < 1) attributes.opacity = paper.globalAlpha;
    svg.append(shape(tag, attributes, text));
  }

  const rectangle = (x, y, w, h) =>
    `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`;

  const paper = {
    svg, fillStyle: '', strokeStyle: '', globalAlpha: 1, lineWidth: 1, textAlign: 'left',

    flush() {
      const kept = fills;
      fills = new Map();
      for (const [fill, d] of kept) svg.append(shape('path', { d, fill }));
    },
    fillRect(x, y, w, h) {
      if (this.globalAlpha < 1) add('path', { d: rectangle(x, y, w, h), fill: this.fillStyle });
      else fills.set(this.fillStyle, (fills.get(this.fillStyle) || '') + rectangle(x, y, w, h));
    },
    strokeRect(x, y, w, h) {
      add('path', { d: rectangle(x, y, w, h), fill: 'none', stroke: this.strokeStyle,
        'stroke-width': this.lineWidth });
    },
    fillText(text, x, y) {
      const anchor = { left: 'start', center: 'middle', right: 'end' }[this.textAlign];
      add('text', { x: short(x), y: short(y + 4), 'text-anchor': anchor,
        style: `fill:${this.fillStyle}` }, text);
    },
    measureText: text => ({ width: CHARACTER * text.length }),
    beginPath() { outline = ''; },
    moveTo(x, y) { outline += `M${short(x)} ${short(y)}`; },
    lineTo(x, y) { outline += `L${short(x)} ${short(y)}`; },
    bezierCurveTo(...points) { outline += `C${points.map(short).join(' ')}`; },
    stroke() { add('path', { d: outline, fill: 'none', stroke: this.strokeStyle }); },
    fill() { add('path', { d: outline, fill: this.fillStyle }); },
  };
  return paper;
}

// The timeline as SVG, in the colours of the style sheet.
function timelineSvg(width) {
  const kept = { width: timeline.width, colours: timeline.colours };
  const paper = svgPaper(width, timeline.height, 'Timeline: what each warp does, in order');
  timeline.width = width - GUTTER - 10;
  timeline.drawOn(paper, name => `var(--${name})`);
  paper.flush();
  Object.assign(timeline, kept);
  return paper.svg;
}

// ---- A picture for a text -----------------------------------------------------------------------

const PICTURE = { width: 1000, top: 48 };

// The rules of the style sheet that give the names their colours: light, and dark.
function palette(names) {
  const theme = document.documentElement.dataset.theme || '';
  const [light, dark] = ['light', 'dark'].map(wanted => {
    document.documentElement.dataset.theme = wanted;
    return `:root{${names.map(name => `--${name}:${colour(name)}`).join(';')}}`;
  });
  document.documentElement.dataset.theme = theme;
  return `${light}@media(prefers-color-scheme:dark){${dark}}text{font-family:sans-serif}`;
}

// A file of its own: the timeline with a title and the legend above it.
function picture() {
  const names = Object.keys(PHASES).filter(name => here().ops.some(op => op.phase === name));
  const { width, top } = PICTURE, svg = timelineSvg(width), inner = shape('g', {
    transform: `translate(0 ${top})` });
  const whole = drawing(width, timeline.height + top, svg.getAttribute('aria-label'));
  inner.append(...svg.childNodes);
  whole.removeAttribute('style');
  whole.setAttribute('font-size', 11);
  whole.append(shape('style', {}, palette([...names, 'gap', 'ink', 'faint', 'paper'])),
    shape('rect', { width, height: timeline.height + top, fill: 'var(--paper)' }),
    shape('text', { x: 10, y: 17, style: 'fill:var(--ink);font-weight:700' },
      `${byId('title').textContent}, block ${here().index}: ${run.seq_q} queries, ` +
      `${run.seq_kv} keys, d ${run.d}`),
    shape('text', { x: width - 10, y: 17, 'text-anchor': 'end', style: 'fill:var(--faint)' },
      'order and waits, not nanoseconds'));
  let x = 10;
  const legend = [...names.map(name => [name, PHASES[name]]), ['gap', 'stands still']];
  for (const [name, text] of legend) {
    whole.append(shape('rect', { x, y: 26, width: 11, height: 11, rx: 2, fill: `var(--${name})` }),
      shape('text', { x: x + 16, y: 36, style: 'fill:var(--ink)' }, text));
    x += 30 + CHARACTER * text.length;
  }
  whole.append(inner);
  return new XMLSerializer().serializeToString(whole).replace(/(<(path|text|rect|g|style)\b)/g,
    '\n$1');
}
