'use strict';
// The data, one column for each property, and what is worked out from them once.
const D = JSON.parse(document.getElementById('data').textContent);
const size = D.name.length;
const own = 0; // the program's module
const certaintyWord = ['proved', 'assumed', 'no bound'];
const boundWord = ['exact', 'at most', 'no bound'];
const lower = D.name.map((name, i) => [name, D.symbol[i], D.aliases[i]].filter((t) => t).join('\n').toLowerCase());

const hasLibraries = D.set.some((isSet, i) => i >= D.listed && !isSet);

// Names that several functions of a module have: static ones, and such as libc makes of one source twice.
const timesNamed = new Map();
D.name.forEach((name, i) => timesNamed.set(name + '\n' + D.module[i], (timesNamed.get(name + '\n' + D.module[i]) || 0) + 1));
const isAmbiguous = (i) => timesNamed.get(D.name[i] + '\n' + D.module[i]) > 1;

const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
const bytes = (n) => (n < 0 ? '∞' : number(n));
const hex = (n) => '0x' + n.toString(16);
function human(n) {
  if (n < 1024) return n + ' B';
  const unit = n < 1048576 ? ['KiB', 1024] : n < 1073741824 ? ['MiB', 1048576] : ['GiB', 1073741824];
  return (n / unit[1]).toFixed(1) + ' ' + unit[0];
}
const plural = (n, one, many) => number(n) + '\u00a0' + (n === 1 ? one : many || one + 's');

// A long C++ name without what stands in its outermost brackets; the '<' of an operator is none.
function brief(name, most = 56) {
  if (name.length <= most) return name;
  let text = '';
  let depth = 0;
  for (let i = 0; i < name.length; ++i) {
    const rest = depth === 0 ? /^(operator[<>=()!-]*|\(anonymous namespace\))/.exec(name.slice(i, i + 24)) : null;
    if (rest) {
      text += rest[0];
      i += rest[0].length - 1;
    } else if (name[i] === '<' || name[i] === '(') {
      if (depth++ === 0) text += name[i];
    } else if ((name[i] === '>' || name[i] === ')') && depth > 0) {
      if (--depth === 0) text += '…' + name[i];
    } else if (depth === 0) text += name[i];
  }
  if (depth !== 0) text = name;
  return text.length > most ? '…' + text.slice(1 - most) : text; // the end is the function's own name
}

// The functions from `i` down its worst chain; `again`: the last one was there before.
function chainOf(i) {
  const seen = new Set();
  const links = [];
  while (i >= 0 && !seen.has(i)) {
    seen.add(i);
    links.push({ of: i, at: D.at[i], depth: D.depth[i] });
    i = D.next[i];
  }
  return { links, again: i };
}

function calleesOf(i) {
  return D.to.slice(D.first[i], D.first[i + 1]);
}

let callers = null; // of each function, worked out when first asked for
function callersOf(i) {
  if (!callers) {
    callers = Array.from({ length: size }, () => []);
    for (let from = 0; from < size; ++from) for (const to of calleesOf(from)) callers[to].push(from);
  }
  return callers[i];
}

function reachOf(i) {
  const seen = new Uint8Array(size);
  const found = [i];
  seen[i] = 1;
  for (let k = 0; k < found.length; ++k)
    for (let e = D.first[found[k]]; e < D.first[found[k] + 1]; ++e)
      if (!seen[D.to[e]]) {
        seen[D.to[e]] = 1;
        found.push(D.to[e]);
      }
  return found;
}

// Cycles with more than one function, or one that calls itself; the largest first.
const cycles = (() => {
  const byNumber = new Map();
  D.cycle.forEach((c, i) => {
    if (c < 0 || D.set[i]) return;
    if (!byNumber.has(c)) byNumber.set(c, { members: [], back: [], frames: 0 });
    const cycle = byNumber.get(c);
    cycle.members.push(i);
    cycle.frames += D.frame[i];
  });
  for (const edge of D.back) if (byNumber.has(D.cycle[edge[0]])) byNumber.get(D.cycle[edge[0]]).back.push(edge);
  return [...byNumber.values()].sort((x, y) => y.members.length - x.members.length || y.frames - x.frames);
})();
const cycleWith = (i) => cycles.findIndex((c) => c.members.includes(i));

// What is assumed, with the functions that rest on it; what most rest on first.
const assumptions = (() => {
  const functions = D.assumptions.map(() => []);
  D.rests.forEach((set, i) => {
    if (!D.set[i]) for (const a of D.sets[set]) functions[a].push(i);
  });
  return D.assumptions
    .map((text, i) => ({ text, number: i, functions: functions[i] }))
    .filter((a) => a.functions.length > 0)
    .sort((x, y) => y.functions.length - x.functions.length);
})();

// What has no bound, with the functions that are unbounded for it.
const causes = (() => {
  const byCulprit = new Map();
  D.culprit.forEach((c, i) => {
    if (c < 0 || D.set[i]) return;
    if (!byCulprit.has(c)) byCulprit.set(c, { culprit: c, text: D.causes[c] || '', functions: [] });
    byCulprit.get(c).functions.push(i);
  });
  return [...byCulprit.values()].sort((x, y) => y.functions.length - x.functions.length);
})();

// What would turn an assumption into a proof; the first that fits of these.
const proofs = [
  [/vtable|virtual|table/, 'An annotation “targets” that names the functions the call may reach, with the reason why there are no others.'],
  [/-z now|bound when the program starts/, 'Linking the program with -z now, or the resolver counted with --lazy-binding.'],
  [/not found/, 'The libraries: --library-path names their folder.'],
  [/dlopen|loaded/, 'A program that is linked statically, without dlopen; else an argument why what is loaded calls nothing deeper.'],
  [/signature|type/, 'Debug information of every module, and no call through a pointer that was cast.'],
  [/at most|never calls|calls only|entered/, 'An argument why it holds: in the annotation write “proved” and the reason.'],
];
function wouldProve(text) {
  const found = proofs.find(([words]) => words.test(text));
  return found ? found[1] : 'An annotation with the reason why it holds, marked “proved”; --strict shows what is needed without it.';
}

function wouldBound(text) {
  const t = text.toLowerCase();
  if (/alloca|variable/.test(t)) return 'A fixed or bounded size in the source, or an annotation “frame” with the most it takes.';
  if (/recursion|cycle/.test(t)) return 'A stub on each of its back edges (the segment then counts), or an annotation “depth” with how often it is entered.';
  if (/pointer|indirect|call/.test(t)) return 'An annotation “targets” with the functions that the pointer may mean.';
  if (/not there|not found|missing/.test(t)) return 'The library: give its folder with --library-path.';
  return 'An annotation “need” or “frame” for this function, with its reason.';
}
