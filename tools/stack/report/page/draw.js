// The worst chain as a stack of boxes, and frames as areas.
const svgSpace = 'http://www.w3.org/2000/svg';

function make(tag, properties, ...children) {
  const element = tag.startsWith('svg:')
    ? document.createElementNS(svgSpace, tag.slice(4))
    : document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {}))
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  element.append(...children.filter((c) => c !== undefined && c !== null));
  return element;
}

const boxesMost = 60;
const boxLeast = window.matchMedia('(max-width: 799px)').matches ? 38 : 30;
const boxMost = 230;

// A box for each call, the caller above: what it has on the stack at that call. Height goes with bytes, but each box
// holds its line of text; the wash behind it shows the share exactly.
function drawStack(i, whole) {
  const { links, again } = chainOf(i);
  const most = Math.max(1, ...links.map((l) => l.depth), D.charge);
  const total = Math.max(1, links.reduce((sum, l) => sum + l.depth, 0) + D.charge);
  const list = make('ol', { class: 'stack', 'aria-label': 'Worst chain, the outermost call first' });
  let sum = 0;
  const box = (label, code, depth, of, open) => {
    sum += depth;
    const height = Math.round(boxLeast + (boxMost - boxLeast) * (depth / most) * Math.min(1, total / 512));
    const content = [
      make('span', { class: 'scale', style: `width:${((100 * depth) / total).toFixed(2)}%` }),
      make('span', { class: 'who' }, label, code ? make('code', {}, code) : null),
      make('span', { class: 'size' }, open ? '∞' : number(depth)),
      make('span', { class: 'sum', title: 'bytes so far' }, open ? '' : number(sum)),
    ];
    const inner =
      of >= 0
        ? make('button', { type: 'button', title: D.name[of], onclick: () => go('f' + of) }, ...content)
        : make('div', { class: 'rest' }, ...content);
    list.append(make('li', { style: `height:${height}px`, class: open ? 'open' : undefined }, inner));
  };
  const cut = !whole && links.length > boxesMost;
  links.forEach((link, k) => {
    const last = k === links.length - 1;
    if (cut && k >= boxesMost - 10 && k < links.length - 10) {
      sum += link.depth;
      if (k === links.length - 11) {
        const text = `… ${number(links.length - boxesMost)} calls more: show all`;
        const more = make('button', { type: 'button', class: 'rest', onclick: () => list.replaceWith(drawStack(i, true)) }, text);
        list.append(make('li', { style: `height:${boxLeast}px` }, more));
      }
      return;
    }
    const library = D.module[link.of] !== own && !D.set[link.of] ? ' · ' + D.modules[D.module[link.of]] : '';
    const where = last && again < 0 ? 'deepest' : D.set[link.of] ? 'through a pointer' : 'calls at ' + hex(link.at);
    box(brief(D.name[link.of]), where + library, link.depth, link.of, last && D.need[i] < 0 && again < 0);
  });
  if (again >= 0) {
    const text = '↺ ' + brief(D.name[again]) + (D.need[i] < 0 ? ' again, and so on without bound' : ' again, as often as an annotation says');
    list.append(make('li', { class: D.need[i] < 0 ? 'open' : undefined, style: `height:${boxLeast}px` }, make('div', { class: 'rest' }, text)));
  }
  if (D.charge > 0 && D.need[i] >= 0) box('signal handler', 'as --signal-frame says', D.charge, -1, false);
  return list;
}

// Rectangles as near to squares as rows allow (squarified treemap), for values in descending order.
function squarify(values, x, y, width, height) {
  const total = values.reduce((sum, v) => sum + v, 0);
  const areas = values.map((v) => (v / total) * width * height);
  const places = [];
  let k = 0;
  while (k < areas.length) {
    const side = Math.max(1e-9, Math.min(width, height));
    let row = 0;
    let worst = Infinity;
    let end = k;
    while (end < areas.length) {
      const with_ = row + areas[end];
      const ratio = Math.max((side * side * areas[k]) / (with_ * with_), (with_ * with_) / (side * side * areas[end]));
      if (ratio > worst) break;
      worst = ratio;
      row = with_;
      ++end;
    }
    const thick = row / side;
    let along = 0;
    for (; k < end; ++k) {
      const long = areas[k] / thick;
      places.push(width >= height
        ? { x, y: y + along, width: thick, height: long }
        : { x: x + along, y, width: long, height: thick });
      along += long;
    }
    if (width >= height) {
      x += thick;
      width -= thick;
    } else {
      y += thick;
      height -= thick;
    }
  }
  return places;
}

const leavesMost = 240;
const frameMost = 16 << 20; // next to a larger one no other would be seen
const isDrawn = (i) => D.bound[i] < 2 && D.frame[i] > 0 && D.frame[i] <= frameMost;
const hues = [208, 152, 36, 280, 352, 186, 64, 320];

// Frames of `functions`, by module: the largest ones, then all others of a module together.
function groupsOf(functions) {
  const sorted = [...functions].sort((x, y) => D.frame[y] - D.frame[x]);
  const groups = new Map();
  sorted.forEach((i, rank) => {
    const module = D.module[i];
    if (!groups.has(module)) groups.set(module, { module, total: 0, leaves: [], others: 0, otherBytes: 0 });
    const group = groups.get(module);
    group.total += D.frame[i];
    if (rank < leavesMost) group.leaves.push({ of: i, bytes: D.frame[i] });
    else {
      group.others += 1;
      group.otherBytes += D.frame[i];
    }
  });
  for (const group of groups.values())
    if (group.others > 0) {
      group.leaves.push({ of: -1, bytes: group.otherBytes, text: plural(group.others, 'other') });
      group.leaves.sort((x, y) => y.bytes - x.bytes);
    }
  return [...groups.values()].sort((x, y) => y.total - x.total);
}

function drawMap(functions, chosen, width) {
  const height = window.matchMedia('(max-width: 799px)').matches ? 380 : 400;
  const groups = groupsOf(functions);
  const svg = make('svg:svg', { class: 'map', viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'group',
    'aria-label': 'Frames as areas; arrow keys go from one to the next, Enter chooses' });
  const room = (text, space) => (text.length * 6.6 <= space ? text : space < 30 ? '' : text.slice(0, Math.floor(space / 6.6) - 1) + '…');
  const leaves = [];
  squarify(groups.map((g) => g.total), 0, 0, width, height).forEach((place, g) => {
    const group = groups[g];
    const strip = groups.length > 1 && place.height > 46 && place.width > 50 ? 17 : 0;
    if (strip) {
      const label = `${D.modules[group.module]}  ${human(group.total)}`;
      svg.append(make('svg:text', { class: 'group', x: place.x + 3, y: place.y + 13 }, room(label, place.width - 6)));
    }
    const hue = hues[group.module % hues.length];
    const inner = squarify(group.leaves.map((l) => l.bytes), place.x, place.y + strip, place.width, place.height - strip);
    inner.forEach((p, k) => {
      const leaf = group.leaves[k];
      const name = leaf.of < 0 ? leaf.text : D.name[leaf.of];
      const title = `${name} in ${D.modules[group.module]}: ${number(leaf.bytes)} bytes`;
      const cell = make('svg:g', { tabindex: -1, role: 'button', 'aria-label': title, 'data-of': leaf.of,
        class: leaf.of === chosen ? 'chosen' : undefined,
        onclick: () => leaf.of >= 0 && go('f' + leaf.of) },
        make('svg:title', {}, title),
        make('svg:rect', { class: 'leaf', x: p.x, y: p.y, width: Math.max(0, p.width), height: Math.max(0, p.height),
          style: `fill:hsl(${hue} ${leaf.of < 0 ? '8%' : 'var(--map-strong)'} var(--map-light))` }));
      const text = p.height > 16 ? room(leaf.of < 0 ? name : brief(name).replace(D.modules[group.module] + '+', '+'), p.width - 8) : '';
      if (text) cell.append(make('svg:text', { x: p.x + 4, y: p.y + 13 }, text));
      const digits = number(leaf.bytes);
      if (text && p.height > 32 && digits.length * 6.6 < p.width - 8)
        cell.append(make('svg:text', { class: 'bytes', x: p.x + 4, y: p.y + 27 }, digits));
      leaves.push(cell);
      svg.append(cell);
    });
  });
  svg.append(...leaves.filter((cell) => cell.classList.contains('chosen'))); // its border lies above its neighbours
  svg.addEventListener('keydown', (event) => {
    const at = leaves.indexOf(document.activeElement);
    if (event.key === 'Enter' && at >= 0) leaves[at].dispatchEvent(new MouseEvent('click'));
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || leaves.length === 0) return;
    event.preventDefault();
    leaves[Math.max(0, Math.min(leaves.length - 1, at + step))].focus();
  });
  return svg;
}
