// Every page of the site: its search, its looks, and on the first one the chart of the ladder.
'use strict';

const { root } = document.body.dataset;
const found = document.getElementById('found'), field = document.getElementById('search');

function make(tag, content = '', className = '') {
  const node = document.createElement(tag);
  if (Array.isArray(content)) node.append(...content); else node.textContent = content;
  if (className) node.className = className;
  return node;
}

// ---- Search ----------------------------------------------------------------------------------

// "stage 7" is 07, as in the names of stages.
function wordsOf(text) {
  return text.trim().toLowerCase().replace(/\bstage\s*(\d+)/g, (all, n) => n.padStart(2, '0'))
    .split(/\s+/).filter(Boolean);
}

// Every word, in any order. Titles before text; a word at the beginning of a title first.
function rank(entry, words) {
  const title = entry.title.toLowerCase(), text = `${title} ${(entry.text || '').toLowerCase()}`;
  if (!words.every(word => text.includes(word))) return -1;
  if (title.startsWith(words[0])) return 0;
  return words.every(word => title.includes(word)) ? 1 : 2;
}

function search() {
  const words = wordsOf(field.value), short = words.join('').length < 2;
  const ranked = short ? [] : window.SEARCH.map(entry => ({ entry, at: rank(entry, words) }));
  const hits = ranked.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at).slice(0, 20);
  found.hidden = short;
  found.replaceChildren(...hits.map(({ entry }) => {
    const link = make('a', entry.title);
    link.href = root + entry.page;
    return make('li', [link, make('small', entry.text || entry.of)]);
  }));
  if (!hits.length && !short) found.append(make('li', 'nothing found'));
}

// The arrow keys go from the field through what was found, and back; Enter in the field opens the
// first.
function moveThrough(event) {
  const stops = [field, ...found.querySelectorAll('a')], at = stops.indexOf(event.target);
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], next = stops[at + by];
  if (found.hidden) return;
  if (event.key === 'Enter' && at === 0 && stops[1]) stops[1].click();
  if (!by || !next) return;
  event.preventDefault();
  next.focus();
}

field.addEventListener('input', search);
field.addEventListener('focus', search);
// What was found covers the page until one goes there or elsewhere.
document.addEventListener('click', event => {
  if (event.target !== field) found.hidden = true;
});
found.addEventListener('focusout', event => {
  if (event.relatedTarget && !found.contains(event.relatedTarget)) found.hidden = true;
});
for (const place of [field, found]) place.addEventListener('keydown', moveThrough);
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') found.hidden = true;
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});

// A choice holds for the next page, too, where the browser allows that.
const html = document.documentElement;
try { html.dataset.theme = localStorage.theme || ''; } catch { /* none */ }
document.getElementById('theme').addEventListener('click', () => {
  html.dataset.theme = getComputedStyle(html).colorScheme === 'dark' ? 'light' : 'dark';
  try { localStorage.theme = html.dataset.theme; } catch { /* this page alone */ }
});

// page.html#find=bank opens the search.
const wanted = new URLSearchParams(location.hash.slice(1)).get('find');
if (wanted) {
  field.value = wanted;
  search();
}

// ---- The chart -------------------------------------------------------------------------------

const SVG = 'http://www.w3.org/2000/svg';
function shape(tag, attributes, text = '') {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

const unique = list => [...new Set(list)];
const BOX = { left: 56, right: 190, top: 16, bottom: 34, width: 900, height: 430 };

// Heights of labels, from above: `apart` from each other, none below `bottom`.
function spread(heights, apart, bottom) {
  const list = heights.slice();
  for (let i = 1; i < list.length; i++) list[i] = Math.max(list[i], list[i - 1] + apart);
  for (let i = list.length - 1, low = bottom; i >= 0; i--, low -= apart)
    list[i] = Math.min(list[i], low);
  return list;
}

// A line for every stage and peer: TFLOP/s over the length, as they were measured.
function drawChart(place, choice) {
  const runs = window.RESULTS.filter(r => Object.entries(choice).every(([k, v]) => r[k] === v));
  const lengths = unique(runs.map(r => r.seq)).sort((a, b) => a - b);
  const most = Math.max(1, ...runs.map(r => r.tflops));
  const x = seq => BOX.left + (lengths.length < 2 ? 0.5 : lengths.indexOf(seq) /
    (lengths.length - 1)) * (BOX.width - BOX.left - BOX.right);
  const y = t => BOX.height - BOX.bottom - t / most * (BOX.height - BOX.top - BOX.bottom);
  const svg = shape('svg', { viewBox: `0 0 ${BOX.width} ${BOX.height}`, role: 'group',
    'aria-label': 'TFLOP/s of the stages over the length' });
  const step = [10, 20, 50, 100, 200, 500].find(s => most / s <= 8) || 1000;
  for (let t = 0; t <= most; t += step) {
    svg.append(shape('line', { x1: BOX.left, x2: BOX.width - BOX.right, y1: y(t), y2: y(t),
      class: 'axis' }),
    shape('text', { x: BOX.left - 8, y: y(t) + 4, 'text-anchor': 'end' }, `${t}`));
  }
  for (const seq of lengths)
    svg.append(shape('text', { x: x(seq), y: BOX.height - 12, 'text-anchor': 'middle' }, `${seq}`));
  const names = unique(runs.map(r => r.name)).sort((a, b) => best(runs, b) - best(runs, a));
  const told = make('output', 'TFLOP/s by sequence length. Point at a line for its numbers, ' +
    'or go there with the Tab key.');
  const peers = names.filter(name => !/^\d/.test(name));
  const labels = spread(names.map(name => y(runs.filter(r => r.name === name)
    .reduce((a, b) => b.seq > a.seq ? b : a).tflops) + 4), 14, BOX.height - BOX.bottom);
  const lines = names.map((name, i) => {
    const points = runs.filter(r => r.name === name).sort((a, b) => a.seq - b.seq);
    const stage = /^\d/.test(name), end = points[points.length - 1];
    const hue = stage ? `hsl(${(Number(name.slice(0, 2)) * 47) % 360} 65% 48%)` : 'gray';
    const path = points.map((p, n) => `${n ? 'L' : 'M'}${x(p.seq)} ${y(p.tflops)}`).join('');
    const numbers = `${name}: ${points.map(p => `${p.seq} ${p.tflops}`).join(', ')}`;
    const line = shape('path', { d: path, class: 'line', stroke: hue, tabindex: 0, role: 'img',
      'aria-label': `${numbers} TFLOP/s` });
    line.addEventListener('focus', () => { told.textContent = `${numbers} TFLOP/s`; });
    if (!stage) line.setAttribute('stroke-dasharray', `${2 + 4 * peers.indexOf(name)} 3`);
    const label = shape('text', { x: BOX.width - BOX.right + 30, y: labels[i] }, name);
    label.style.fill = `color-mix(in srgb, ${hue} 55%, var(--ink))`;
    svg.append(line, label,
      shape('path', { class: 'leader', stroke: hue, d: `M${x(end.seq)} ${y(end.tflops)}` +
        `L${BOX.width - BOX.right + 26} ${labels[i] - 4}` }),
      ...points.map(p => shape('circle', { cx: x(p.seq), cy: y(p.tflops), r: 3, fill: hue,
        class: 'dot' })));
    return { name, points, line };
  });
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(), scale = BOX.width / box.width;
    const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
    let near = null;
    for (const { name, points, line } of lines)
      for (const p of points) {
        const distance = Math.hypot(x(p.seq) - px, y(p.tflops) - py);
        if (!near || distance < near.distance) near = { distance, name, p, line };
      }
    for (const { line } of lines) line.classList.toggle('near', near && line === near.line);
    if (near) told.textContent = `${near.name}, ${near.p.seq}: ${near.p.tflops} TFLOP/s, ` +
      `${near.p.ms} ms (batch ${near.p.batch}, ${near.p.device})`;
  });
  place.replaceChildren(svg, told);
}

const best = (runs, name) => Math.max(...runs.filter(r => r.name === name).map(r => r.tflops));

function openChart() {
  const chart = document.getElementById('chart');
  if (!chart || !window.RESULTS || !window.RESULTS.length) return;
  const place = make('div'), choices = make('div', '', 'choices');
  const names = { device: 'card', d: 'head size', mask: 'mask' };
  const selects = Object.entries(names).map(([key, label]) => {
    const select = document.createElement('select');
    select.append(...unique(window.RESULTS.map(r => r[key])).map(value => {
      const option = make('option', String(value));
      option.value = value;
      return option;
    }));
    choices.append(make('label', [`${label} `, select]));
    return [key, select];
  });
  // First the card of the picture in whose place the chart is.
  const fileOf = device => device.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const cards = selects[0][1];
  cards.value = [...cards.options].map(option => option.value)
    .find(device => fileOf(device) === chart.dataset.card) || cards.value;
  const draw = () => drawChart(place, Object.fromEntries(selects.map(([key, select]) =>
    [key, key === 'd' ? Number(select.value) : select.value])));
  choices.addEventListener('change', draw);
  chart.replaceChildren(choices, place);
  draw();
}

openChart();
