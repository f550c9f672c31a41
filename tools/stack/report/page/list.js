// The list on the left: of tens of thousands of rows those in sight are drawn.
const $ = (id) => document.getElementById(id);

const list = {
  items: [],   // what the view's rows show
  render: null, // (item) => the children of its row
  choose: null, // (item) => the place it leads to
  none: '',    // said where there is none
  active: -1,  // row
  rowHeight: 34,

  show(items, { row, place, none }, activeItem) {
    Object.assign(this, { items, render: row, choose: place, none });
    this.rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row'));
    this.active = items.indexOf(activeItem);
    $('rows').style.height = items.length * this.rowHeight + 'px';
    $('list').scrollTop = 0;
    this.draw();
  },

  draw() {
    const box = $('list');
    const first = Math.max(0, Math.floor(box.scrollTop / this.rowHeight) - 4);
    const last = Math.min(this.items.length, first + Math.ceil(box.clientHeight / this.rowHeight) + 8);
    const rows = [];
    for (let k = first; k < last; ++k) {
      const chosen = k === this.active;
      rows.push(make('div', { class: 'row', role: 'option', id: 'row' + k, 'aria-selected': chosen ? 'true' : 'false',
        'aria-setsize': this.items.length, 'aria-posinset': k + 1, style: `top:${k * this.rowHeight}px`,
        onclick: () => this.take(k, true) }, ...this.render(this.items[k])));
    }
    $('rows').replaceChildren(...(this.items.length > 0 ? rows : [make('p', { class: 'empty' }, this.none)]));
    if (this.active >= 0) box.setAttribute('aria-activedescendant', 'row' + this.active);
    else box.removeAttribute('aria-activedescendant');
  },

  reveal() {
    const box = $('list');
    const top = this.active * this.rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + this.rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + this.rowHeight - box.clientHeight;
  },

  take(k, open) {
    this.active = k;
    this.reveal();
    this.draw();
    if (open) go(this.choose(this.items[k]));
  },

  // A choice made elsewhere.
  mark(item) {
    const at = this.items.indexOf(item);
    if (at === this.active) return;
    this.active = at;
    if (at >= 0) this.reveal();
    this.draw();
  },

  key(event) {
    const page = Math.max(1, Math.floor($('list').clientHeight / this.rowHeight) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (this.items.length === 0) return;
    if (step !== undefined) {
      event.preventDefault();
      const wanted = Math.max(0, Math.min(this.items.length - 1, this.active + step));
      this.take(wanted, wide());
    } else if (event.key === 'Enter' && this.active >= 0) this.take(this.active, true);
  },
};

const wide = () => !window.matchMedia('(max-width: 799px)').matches;

let view = 'functions';
const views = {
  functions: {
    items() {
      const text = $('search').value.trim().toLowerCase();
      const sure = $('filter').value;
      const end = $('libraries').checked ? size : D.listed;
      const found = [];
      for (let i = 0; i < end; ++i)
        if (!D.set[i] && (sure === '' || D.sure[i] === Number(sure)) && (text === '' || lower[i].includes(text))) found.push(i);
      const key = $('sort').value;
      const need = (i) => (D.need[i] < 0 ? Infinity : D.need[i]);
      if (key === 'name') found.sort((x, y) => (D.name[x] < D.name[y] ? -1 : D.name[x] > D.name[y] ? 1 : x - y));
      else if (key === 'frame') found.sort((x, y) => D.frame[y] - D.frame[x] || x - y);
      else found.sort((x, y) => (need(x) === need(y) ? D.frame[y] - D.frame[x] || x - y : need(y) - need(x)));
      return found;
    },
    row(i) {
      const name = make('span', { class: 'name', title: D.name[i] }, brief(D.name[i], wide() ? 46 : 32) || hex(D.entry[i]));
      const of = [D.module[i] !== own ? D.modules[D.module[i]] : '', isAmbiguous(i) ? hex(D.entry[i]) : ''].filter((t) => t);
      if (of.length > 0) name.append(make('span', { class: 'of' }, of.join(' · ')));
      const byFrame = $('sort').value === 'frame';
      return [
        make('span', { class: 'mark s' + D.sure[i], role: 'img', 'aria-label': certaintyWord[D.sure[i]] }),
        name,
        make('span', { class: 'number', title: byFrame ? 'frame' : 'need' }, bytes(byFrame ? D.frame[i] : D.need[i])),
      ];
    },
    place: (i) => 'f' + i,
    count: (n) => `${plural(n, 'function')}, ${$('sort').value === 'frame' ? 'frame' : 'need'} in bytes`,
    get none() {
      const text = $('search').value.trim();
      const hints = [$('filter').value !== '' ? 'all certainties' : '', hasLibraries && !$('libraries').checked ? 'libraries too' : ''];
      const where = hints.filter((h) => h).join(', ');
      return (text === '' ? 'No such function.' : `No function has “${text}” in its name.`) + (where ? ` Look among ${where}?` : '');
    },
  },
  cycles: {
    items: () => cycles,
    row: (c) => [
      make('span', { class: 'name' }, c.members.slice(0, 4).map((i) => brief(D.name[i])).join(', ')),
      make('span', { class: 'faint number' }, plural(c.back.length, 'back edge')),
      make('span', { class: 'number' }, plural(c.members.length, 'function')),
    ],
    place: (c) => 'c' + cycles.indexOf(c),
    count: (n) => `${plural(n, 'cycle')}: functions that may call themselves again`,
    none: 'No function can call itself again, as far as its calls are known.',
  },
  assumptions: {
    items: () => assumptions,
    row: (a) => [
      make('span', { class: 'name', title: a.text }, a.text),
      make('span', { class: 'number' }, plural(a.functions.length, 'function')),
    ],
    place: (a) => 'a' + a.number,
    count: (n) => `${plural(n, 'assumption')}, and how many functions rest on each`,
    none: 'Nothing is assumed.',
  },
  causes: {
    items: () => causes,
    row: (c) => [
      make('span', { class: 'name', title: D.name[c.culprit] + ': ' + c.text }, brief(D.name[c.culprit]),
        make('span', { class: 'of' }, c.text)),
      make('span', { class: 'number' }, plural(c.functions.length, 'function')),
    ],
    place: (c) => 'u' + c.culprit,
    count: (n) => `${plural(n, 'place')} without bound, and how many functions lead there`,
    none: 'Every need has a bound.',
  },
};

function refresh(activeItem) {
  const v = views[view];
  const items = v.items();
  $('count').textContent = v.count(items.length);
  list.show(items, v, activeItem);
}

function openView(name) {
  view = name;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const chosen = tab.dataset.view === name;
    tab.setAttribute('aria-selected', chosen ? 'true' : 'false');
    tab.tabIndex = chosen ? 0 : -1;
  }
  $('tools').hidden = name !== 'functions';
  $('list').setAttribute('aria-label', document.querySelector(`[data-view="${name}"]`).firstChild.textContent.trim());
  refresh();
}
