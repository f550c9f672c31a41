// The header, and what the user's actions do.
function header() {
  const name = D.program.slice(D.program.lastIndexOf('/') + 1);
  $('program').textContent = name;
  $('path').textContent = D.program === name ? '' : D.program;
  const count = [0, 0, 0];
  let largest = -1;
  for (let i = 0; i < D.listed; ++i) {
    ++count[D.sure[i]];
    if (D.need[i] > (largest < 0 ? -1 : D.need[largest])) largest = i;
  }
  const share = count.map((n) => (D.listed === 0 ? 0 : (100 * n) / D.listed));
  $('share').append(...share.map((p, k) => make('i', { class: 'bar' + k, style: `flex:${p} 0 0` })));
  $('share').setAttribute('aria-label', share.map((p, k) => `${p.toFixed(0)} % ${certaintyWord[k]}`).join(', '));
  $('legend').append(...share.map((p, k) => make('li', {}, make('span', { class: 'mark s' + k }), make('b', {}, number(count[k])), ` ${certaintyWord[k]}, ${p.toFixed(p < 10 ? 1 : 0)} %`)));
  const total = (word, value) => make('div', {}, make('dt', {}, word), make('dd', {}, value));
  $('totals').append(total('Functions', number(D.listed)), total('Largest need', largest < 0 ? 'none' : human(D.need[largest])),
    total('Back edges', number(D.back.length)));

  for (const [tab, items] of [['cycles', cycles], ['assumptions', assumptions], ['causes', causes]])
    document.querySelector('#tab-' + tab + ' span').textContent = number(items.length);
  $('libraries-label').style.display = hasLibraries ? '' : 'none';

  const notes = [
    ...D.missing.map((m) => `Library not found: ${m}. Calls of it have no bound.`),
    ...D.warnings,
    ...D.unused.map((n) => `Matches nothing: ${n}`),
  ];
  if (D.charge > 0) notes.push(`Each need and segment has ${number(D.charge)} bytes for a signal handler in it.`);
  if (D.edges_left_out > 0) notes.push(`${number(D.edges_left_out)} calls through pointers are left out of areas and lists of calls.`);
  if (D.profile) {
    const p = D.profile;
    notes.push(`In the run “${p.command}”: ${number(p.forward)} forward, ${number(p.backward)} backward and ` +
      `${number(p.indirect)} indirect calls; ${number(p.non_zero_allocations)} allocations, ${number(p.zero_allocations)} of nothing.`);
  }
  if (notes.length > 0) {
    $('notes').hidden = false;
    $('notes').children[0].textContent = notes.length === 1 ? notes[0] : `${plural(notes.length, 'note')}: ${notes[0]}`;
    $('notes').children[1].append(...(notes.length === 1 ? [] : notes.slice(1).map((n) => make('li', {}, n))));
  }
}

function start() {
  header();
  $('search').addEventListener('input', () => refresh());
  for (const id of ['filter', 'sort', 'libraries']) $(id).addEventListener('change', () => refresh());
  $('tools').addEventListener('submit', (event) => {
    event.preventDefault();
    if (list.items.length > 0) list.take(0, true);
  });
  $('list').addEventListener('scroll', () => list.draw(), { passive: true });
  $('list').addEventListener('keydown', (event) => list.key(event));
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      $('list').focus();
      list.key(event);
    }
  });
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  tabs.forEach((tab, k) => {
    tab.addEventListener('click', () => openView(tab.dataset.view));
    tab.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(k + step + tabs.length) % tabs.length];
      next.focus();
      openView(next.dataset.view);
    });
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      openView('functions');
      $('search').focus();
    } else if (event.key === 'Escape' && document.body.classList.contains('chosen-one') && !wide()) go('');
  });
  window.addEventListener('hashchange', () => show(location.hash.slice(1)));
  let widthBefore = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === widthBefore) return list.draw();
    widthBefore = window.innerWidth;
    refresh();
    show(location.hash.slice(1));
  });

  const place = location.hash.slice(1);
  openView({ c: 'cycles', a: 'assumptions', u: 'causes' }[/^[cau]\d+$/.test(place) ? place[0] : ''] || 'functions');
  if (/^[fcau]\d+$/.test(place)) show(place);
  else if (wide() && list.items.length > 0) list.take(0, true);
  else show('');
}
