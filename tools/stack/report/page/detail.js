// What is told of the chosen function, cycle, assumption or cause. The place is in the address (#f12, #c0, #a3, #u7), so
// that the browser's way back works.
const link = (i) =>
  make('button', { class: 'link', type: 'button', title: D.name[i], onclick: () => go('f' + i) },
    brief(D.name[i]) || hex(D.entry[i]));
const fact = (word, value, more) =>
  make('div', {}, make('dt', {}, word), make('dd', {}, value, more ? make('small', {}, more) : null));
const heading = (text, ...more) => make('div', { class: 'head' }, make('h3', {}, text), ...more);
const back = () =>
  make('button', { class: 'back', type: 'button', onclick: () => go('') }, '‹ All ' + document.querySelector('[aria-selected="true"][role="tab"]').firstChild.textContent.trim().toLowerCase());

// A list of functions, `step` at a time.
function plainList(functions, value, step = 100) {
  const ul = make('ul', { class: 'plain' });
  let shown = 0;
  const more = () => {
    for (const i of functions.slice(shown, shown + step))
      ul.append(make('li', {}, make('span', { class: 'mark s' + D.sure[i] }), link(i), make('span', { class: 'number' }, value(i))));
    shown += step;
    step = 1000;
    if (shown < functions.length) {
      const rest = make('li', {}, make('button', { class: 'more', type: 'button',
        onclick: () => { rest.remove(); more(); } }, `${plural(functions.length - shown, 'function')} more`));
      ul.append(rest);
    }
  };
  more();
  return ul;
}

const byNeed = (functions) => {
  const need = (i) => (D.need[i] < 0 ? Infinity : D.need[i]);
  return [...functions].sort((x, y) => (need(x) === need(y) ? x - y : need(y) - need(x)));
};
const needValue = (i) => bytes(D.need[i]);

let mapOf = 'reach';
function mapSection(i) {
  const section = make('section', {});
  const draw = () => {
    const functions = mapOf === 'reach' ? reachOf(i).filter((k) => !D.set[k])
      : Array.from({ length: size }, (_, k) => k).filter((k) => D.module[k] === D.module[i] && !D.set[k]);
    const choice = (key, text) =>
      make('button', { type: 'button', 'aria-pressed': mapOf === key ? 'true' : 'false',
        onclick: () => { mapOf = key; draw(); } }, text);
    const toggle = make('div', { class: 'toggle', role: 'group', 'aria-label': 'Which frames' },
      choice('reach', 'What it reaches'), choice('module', 'Its module'));
    const framed = functions.filter(isDrawn);
    const sum = framed.reduce((all, k) => all + D.frame[k], 0);
    const undrawn = functions.filter((k) => D.bound[k] === 2 || D.frame[k] > frameMost).length;
    section.replaceChildren(heading('Frames', toggle),
      make('p', { class: 'sub' }, `${plural(functions.length, 'function')}, ${human(sum)} in all frames; area goes with bytes` +
        (undrawn > 0 ? `. ${number(undrawn)} without bound, or above ${human(frameMost)}, left out` : '')),
      drawMap(framed, i, Math.max(300, $('detail').clientWidth - (wide() ? 56 : 32))));
  };
  draw();
  return section;
}

function folded(title, functions) {
  if (functions.length === 0) return null;
  const fold = make('details', {}, make('summary', {}, make('h3', { style: 'display:inline' }, `${title} ${plural(functions.length, 'function')}`)));
  fold.addEventListener('toggle', () => fold.children.length === 1 && fold.append(plainList(byNeed(functions), needValue, 40)));
  return fold;
}

function showFunction(i) {
  const chain = chainOf(i);
  const parts = [back(), make('h2', {}, D.name[i] || hex(D.entry[i]))];
  const place = `${D.modules[D.module[i]]} · ${hex(D.entry[i])}`;
  parts.push(make('p', { class: 'sub' }, D.symbol[i] ? make('code', {}, D.symbol[i]) : null, D.symbol[i] ? ' · ' : '', place));
  if (D.aliases[i]) parts.push(make('p', { class: 'sub' }, 'Also ', make('code', {}, D.aliases[i].replaceAll('\n', ', '))));
  const facts = [
    fact('Need', D.need[i] < 0 ? 'no bound' : number(D.need[i]), D.need[i] >= 1024 ? human(D.need[i]) : ''),
    fact('Frame', D.bound[i] === 2 ? 'no bound' : number(D.frame[i]), D.bound[i] === 2 ? '' : boundWord[D.bound[i]]),
    fact('Segment', D.segment[i] < 0 ? 'no bound' : number(D.segment[i]), 'with stubs'),
  ];
  if (D.touched[i] > D.frame[i] && D.bound[i] < 2) facts.push(fact('Touches', number(D.touched[i]), 'red zone'));
  facts.push(make('div', {}, make('dt', {}, 'Certainty'), make('dd', {}, make('span', { class: 'tag s' + D.sure[i] }, certaintyWord[D.sure[i]]))));
  if (D.blocks[i]) facts.push(fact('May block', 'yes'));
  parts.push(make('dl', { class: 'facts' }, ...facts));

  if (D.sure[i] === 2) {
    const why = make('p', { class: 'why s2' }, D.reasons[D.reason[i]] || 'No bound is known');
    if (D.culprit[i] >= 0 && D.culprit[i] !== i) why.append('. Ends at ', link(D.culprit[i]));
    parts.push(why);
  }
  const rests = D.sets[D.rests[i]];
  if (rests.length > 0)
    parts.push(make('ul', { class: 'why s1', 'aria-label': 'Rests on' }, ...rests.slice(0, 8).map((a) =>
      make('li', {}, make('button', { class: 'link', type: 'button', onclick: () => go('a' + a) }, D.assumptions[a]))),
      rests.length > 8 || D.more[i] ? make('li', {}, D.more[i] ? 'and others' : `and ${number(rests.length - 8)} more`) : null));
  const cycle = D.cycle[i] >= 0 ? cycleWith(i) : -1;
  if (cycle >= 0)
    parts.push(make('p', { class: 'why' }, 'It may be entered again before it returns: ',
      make('button', { class: 'link', type: 'button', onclick: () => go('c' + cycle) },
        `a cycle of ${plural(cycles[cycle].members.length, 'function')}`), '.'));

  parts.push(heading(D.need[i] < 0 ? 'The way to what has no bound' : 'Worst chain'));
  const shown = chain.links.reduce((sum, l) => sum + l.depth, 0) + D.charge;
  const turns = D.need[i] >= 0 && shown !== D.need[i]
    ? `; one turn of its recursion, which takes ${number(D.need[i])} bytes in all turns that an annotation allows` : '';
  parts.push(make('p', { class: 'sub' }, `${plural(chain.links.length, 'call')}; bytes of each, and so far${turns}`));
  parts.push(drawStack(i, false), mapSection(i));
  parts.push(folded('Calls', calleesOf(i)), folded('Called by', callersOf(i)));
  $('detail').replaceChildren(...parts.filter((p) => p));
}

function showCycle(c) {
  const cycle = cycles[c];
  const edges = cycle.back.map(([from, to, at]) =>
    make('li', { class: 'edge' }, link(from), '→', link(to), make('code', { class: 'sub' }, 'at ' + hex(at))));
  $('detail').replaceChildren(back(), make('h2', {}, `A cycle of ${plural(cycle.members.length, 'function')}`),
    make('p', { class: 'sub' }, `${number(cycle.frames)} bytes if each were on the stack once. A stub on each back edge makes every turn of it bounded.`),
    heading(plural(cycle.back.length, 'back edge')), make('ul', { class: 'plain' }, ...edges.slice(0, 500)),
    heading('Members'), plainList([...cycle.members].sort((x, y) => D.frame[y] - D.frame[x]), (i) => number(D.frame[i])));
}

function showAssumption(number_) {
  const a = assumptions.find((x) => x.number === number_);
  if (!a) return false;
  $('detail').replaceChildren(back(), make('h2', {}, a.text), make('p', { class: 'why s1' }, 'Would prove it: ' + wouldProve(a.text)),
    heading(`${plural(a.functions.length, 'function')} ${a.functions.length === 1 ? 'rests' : 'rest'} on it`),
    plainList(byNeed(a.functions), needValue));
  return true;
}

function showCause(culprit) {
  const c = causes.find((x) => x.culprit === culprit);
  if (!c) return false;
  $('detail').replaceChildren(back(), make('h2', {}, brief(D.name[culprit])), make('p', { class: 'why s2' }, c.text),
    make('p', { class: 'why' }, 'Would give a bound: ' + wouldBound(c.text)),
    make('p', { class: 'why' }, 'The function itself: ', link(culprit)),
    heading(`${plural(c.functions.length, 'function')} ${c.functions.length === 1 ? 'has' : 'have'} no bound for it`), plainList(c.functions, (i) => plural(chainOf(i).links.length, 'call')));
  return true;
}

function show(place) {
  const kind = place[0];
  const n = Number(place.slice(1));
  const known = place.length > 1 && Number.isInteger(n) && n >= 0;
  let shown = false;
  if (known && kind === 'f' && n < size) {
    showFunction(n);
    shown = true;
    if (view === 'functions') list.mark(n);
  } else if (known && kind === 'c' && n < cycles.length) {
    showCycle(n);
    shown = true;
    if (view === 'cycles') list.mark(cycles[n]);
  } else if (known && kind === 'a') shown = showAssumption(n);
  else if (known && kind === 'u') shown = showCause(n);
  document.body.classList.toggle('chosen-one', shown);
  if (!shown) $('detail').replaceChildren(make('p', { class: 'empty' }, 'Choose one from the list.'));
  $('detail').scrollTop = 0;
  if (shown && !wide()) window.scrollTo(0, 0);
  list.draw();
}

function go(place) {
  if (location.hash.slice(1) === place) show(place);
  else location.hash = place;
}
