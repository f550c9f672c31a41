// page.html#test does what a user would and writes to the title and to #test-result what came of it.
const testing = location.hash.startsWith('#test');
const problems = [];
if (testing) {
  window.addEventListener('error', (event) => problems.push('error: ' + event.message));
  window.addEventListener('unhandledrejection', (event) => problems.push('rejected: ' + event.reason));
}

async function selfTest() {
  const turn = () => new Promise((done) => setTimeout(done, 60));
  let checks = 0;
  const check = (what, truth) => {
    ++checks;
    if (!truth) problems.push(what);
  };
  const rows = () => [...document.querySelectorAll('.row')];
  const press = (where, key) => where.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const type = async (text) => {
    $('search').value = text;
    $('search').dispatchEvent(new Event('input'));
    await turn();
  };

  check('no rows', rows().length > 0);
  check('a mark without a legend', ['s0', 's1', 's2'].every((s) => document.querySelector('#legend .' + s)));
  check('too many rows are drawn', rows().length < 120);
  const wanted = D.listed - 1;
  await type(D.name[wanted].slice(0, 40));
  check('search finds the name', list.items.includes(wanted));
  check('search leaves others out', list.items.every((i) => lower[i].includes(D.name[wanted].slice(0, 40).trim().toLowerCase())));
  await type('no such function, surely');
  check('search for nonsense finds some', list.items.length === 0);
  $('list').dispatchEvent(new Event('scroll'));
  check('that nothing is found is not said', $('rows').textContent.includes('No function') && $('count').textContent.startsWith('0'));
  const named = D.aliases.findIndex((text, i) => text && i < D.listed);
  if (named >= 0) {
    await type(D.aliases[named].split('\n')[0]);
    check('search finds another name', list.items.includes(named));
  }
  await type('');

  for (const sure of ['0', '1', '2']) {
    $('filter').value = sure;
    $('filter').dispatchEvent(new Event('change'));
    check('filter ' + sure, list.items.every((i) => D.sure[i] === Number(sure)) &&
      list.items.length === D.sure.slice(0, D.listed).filter((s) => s === Number(sure)).length);
  }
  $('filter').value = '';
  for (const key of ['name', 'frame', 'need']) {
    $('sort').value = key;
    $('sort').dispatchEvent(new Event('change'));
    const order = list.items.every((i, k) => k === 0 || (key === 'name' ? D.name[list.items[k - 1]] <= D.name[i]
      : key === 'frame' ? D.frame[list.items[k - 1]] >= D.frame[i]
      : D.need[list.items[k - 1]] < 0 || (D.need[i] >= 0 && D.need[list.items[k - 1]] >= D.need[i])));
    check('sort by ' + key, order && list.items.length === D.listed);
  }

  rows()[0].click();
  await turn();
  check('a click chooses', location.hash === '#f' + list.items[0] && document.querySelector('#detail h2').textContent === D.name[list.items[0]]);
  if (!wide()) {
    go('');
    await turn();
  }
  $('list').focus();
  press($('list'), 'End');
  check('End goes to the last', list.active === list.items.length - 1 && document.getElementById('row' + list.active));
  press($('list'), 'ArrowUp');
  check('ArrowUp goes up', list.active === Math.max(0, list.items.length - 2));
  press($('list'), 'Enter');
  await turn();
  check('Enter chooses', location.hash === '#f' + list.items[list.active]);

  let sums = 0;
  for (let i = 0; i < D.listed; ++i) {
    if (D.need[i] < 0) continue;
    const chain = chainOf(i);
    if (chain.again < 0 && chain.links.every((l) => D.cycle[l.of] < 0) && chain.links.reduce((sum, l) => sum + l.depth, 0) + D.charge !== D.need[i]) ++sums;
  }
  check(sums + ' chains do not add up to the need', sums === 0);
  for (const i of [0, D.listed >> 1, D.listed - 1]) {
    go('f' + i);
    await turn();
    check('stack of ' + D.name[i], document.querySelectorAll('.stack li').length >= Math.min(chainOf(i).links.length, boxesMost - 1));
    check('a box says a module that is none', [...document.querySelectorAll('.stack code')].every((c) => !/·\s*$/.test(c.textContent)));
    mapOf = 'module';
    show('f' + i);
    const rects = [...document.querySelectorAll('.map rect.leaf')];
    const area = rects.reduce((sum, r) => sum + r.getAttribute('width') * r.getAttribute('height'), 0);
    const box = document.querySelector('.map').viewBox.baseVal;
    const within = rects.every((r) => Number(r.getAttribute('x')) + Number(r.getAttribute('width')) <= box.width + 0.01 &&
      Number(r.getAttribute('y')) + Number(r.getAttribute('height')) <= box.height + 0.01);
    check('areas of ' + D.name[i], rects.length > 0 && within && area > 0.85 * box.width * box.height && area < 1.001 * box.width * box.height);
    mapOf = 'reach';
  }
  const leaf = document.querySelector('.map g');
  if (leaf && Number(leaf.dataset.of) >= 0) {
    leaf.dispatchEvent(new MouseEvent('click'));
    await turn();
    check('an area chooses', location.hash === '#f' + leaf.dataset.of);
  }

  for (const [name, items] of [['cycles', cycles], ['assumptions', assumptions], ['causes', causes]]) {
    if (!wide()) {
      go('');
      await turn();
    }
    document.getElementById('tab-' + name).click();
    check(name + ' are listed', items.length === 0 ? $('rows').textContent !== '' : rows().length > 0 && list.items.length === items.length);
    if (items.length === 0) continue;
    rows()[0].click();
    await turn();
    check(name + ' are shown', document.querySelectorAll('#detail .plain li').length > 0);
  }
  check('members of cycles', cycles.every((c) => c.members.length > 1 ||
    c.back.some(([from, to]) => from === to) || calleesOf(c.members[0]).includes(c.members[0])));
  check('unbounded are grouped', causes.reduce((sum, c) => sum + c.functions.length, 0) === D.sure.filter((s, i) => s === 2 && !D.set[i]).length);
  check('nothing is wider than the window', document.documentElement.scrollWidth <= window.innerWidth);

  document.title = problems.length === 0 ? `test: fine, ${checks} checks` : 'test: FAILED';
  document.body.append(make('pre', { id: 'test-result' }, [document.title, ...problems].join('\n')));
}

start();
if (testing) selfTest().catch((error) => {
  document.title = 'test: FAILED';
  document.body.append(make('pre', { id: 'test-result' }, [document.title, 'stopped: ' + error.stack, ...problems].join('\n')));
});
