'use strict';
// Of every page: rows are searched, filtered by verdict and sorted; a cell that is chosen says its reason, and has a link.
(() => {
  const tables = [...document.querySelectorAll('.wide > table')].filter((table) => table.tHead && table.tBodies.length === 1);
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  if (rows.length === 0) return;
  const words = {
    failed: 'failed', mistrusted: 'mistrusted', raises: 'raises', refused: 'refused', unmodelled: 'not modelled', passed: 'passed', chosen: 'chosen', possible: 'possible',
  };
  const make = (name, properties, parent) => parent.appendChild(Object.assign(document.createElement(name), properties));

  // What a cell says beyond its word: in a list of its part, or by itself.
  const reason = (cell) => {
    const number = cell.dataset.r;
    return number ? cell.closest('.reasoned').querySelector('ol.reasons').children[number - 1].textContent : cell.title;
  };
  const column = (cell) => {
    let at = 0;
    for (let left = cell.previousElementSibling; left; left = left.previousElementSibling) at += left.colSpan;
    return at;
  };
  const in_column = (row, at) => [...row.cells].find((cell) => column(cell) <= at && at < column(cell) + cell.colSpan);
  const shown = (element) => (element ? element.innerText || element.textContent : '').trim().replace(/\s+/g, ' ');
  const heads = (cell) => {
    const names = [];
    for (let at = column(cell); at < column(cell) + cell.colSpan; ++at) names.push(shown(in_column(cell.closest('table').tHead.rows[0], at)));
    return names.join(' ');
  };

  // Search and filter.
  const bar = make('form', {className: 'bar'}, document.createElement('div'));
  const search = make('input', {type: 'search', placeholder: 'search rows', ariaLabel: 'search rows'}, bar);
  const kinds = Object.keys(words).filter((kind) => document.querySelector(`td.${kind}`));
  const wanted = new Set();
  const texts = new Map();
  const text_of = (row) => {
    if (!texts.has(row)) texts.set(row, [...row.cells].map((cell) => `${cell.textContent} ${reason(cell)}`).join(' ').toLowerCase());
    return texts.get(row);
  };
  const opened = new Map([...document.querySelectorAll('details')].map((part) => [part, part.open]));
  const apply = () => {
    const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = asked.length === 0 && wanted.size === 0;
    let count = 0;
    for (const row of rows) {
      const fits = wanted.size === 0 || [...row.cells].some((cell) => wanted.has(cell.classList[0]));
      row.hidden = !(fits && asked.every((word) => text_of(row).includes(word)));
      count += !row.hidden;
    }
    for (const table of tables) table.parentElement.hidden = !all && [...table.tBodies[0].rows].every((row) => row.hidden);
    for (const [part, was] of opened) part.open = all ? was : part.querySelector('tbody tr:not([hidden])') !== null;
    result.textContent = all ? '' : `${count} of ${rows.length} rows`;
  };
  for (const kind of kinds) {
    const button = make('button', {type: 'button', className: kind, textContent: words[kind], ariaPressed: 'false'}, bar);
    button.addEventListener('click', () => {
      if (!wanted.delete(kind)) wanted.add(kind);
      button.ariaPressed = String(wanted.has(kind));
      apply();
    });
  }
  const result = make('output', {className: 'soft'}, bar);
  search.addEventListener('input', apply);
  bar.addEventListener('submit', (event) => event.preventDefault());
  (document.querySelector('nav') || document.querySelector('h1')).after(bar);

  // Sort: numbers as numbers, once up and once down.
  const sort = (head) => {
    const table = head.closest('table');
    const at = column(head);
    const down = head.ariaSort === 'ascending';
    for (const other of table.tHead.rows[0].cells) other.ariaSort = 'none';
    head.ariaSort = down ? 'descending' : 'ascending';
    const value = (row) => shown(in_column(row, at));
    const order = new Intl.Collator('en', {numeric: true});
    const sorted = [...table.tBodies[0].rows].sort((a, b) => (down ? order.compare(value(b), value(a)) : order.compare(value(a), value(b))));
    table.tBodies[0].append(...sorted);
  };
  for (const head of tables.flatMap((table) => [...table.tHead.rows[0].cells])) {
    head.tabIndex = 0;
    head.ariaSort = 'none';
  }

  // One cell is chosen: by a click, a touch, keys or the page's address.
  const said = make('p', {id: 'said', role: 'status', hidden: true}, document.body);
  let here = null;
  const address = (cell) => {
    const parts = [];
    for (let part = cell.closest('details'); part; part = part.parentElement.closest('details')) parts.unshift(shown(part.querySelector('summary')));
    return '#cell=' + [...parts, cell.closest('.wide').getAttribute('aria-label'), shown(cell.closest('tr').cells[0]), heads(cell)].map(encodeURIComponent).join('/');
  };
  const choose = (cell) => {
    if (here) here.classList.remove('here');
    here = cell;
    said.hidden = !cell;
    said.textContent = '';
    if (!cell) return;
    cell.classList.add('here');
    const about = reason(cell);
    said.append(`${shown(cell.closest('tr').cells[0])} · ${heads(cell)}: ${shown(cell)}${about && about !== shown(cell) ? ' — ' + about : ''} `);
    make('a', {href: address(cell), textContent: 'link to this cell'}, said);
    cell.scrollIntoView({block: 'nearest', inline: 'nearest'});
  };
  const follow = () => {
    if (!location.hash.startsWith('#cell=')) return;
    const cell = rows.flatMap((row) => [...row.cells].slice(1)).find((one) => address(one) === location.hash);
    if (!cell) return;
    for (let part = cell.closest('details'); part; part = part.parentElement.closest('details')) part.open = true;
    choose(cell);
    cell.scrollIntoView({block: 'center'});
  };
  document.addEventListener('click', (event) => {
    const head = event.target.closest('.wide > table > thead th');
    const cell = event.target.closest('.wide > table > tbody td');
    if (head) sort(head);
    else if (cell) choose(cell);
    else if (!event.target.closest('#said')) choose(null);
  });
  document.addEventListener('keydown', (event) => {
    const head = event.target.closest('.wide > table > thead th');
    if (head && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      sort(head);
    } else if (event.key === 'Enter' && event.target.matches('.wide')) {
      choose(event.target.querySelector('tbody tr:not([hidden]) td'));
    } else if (event.key === 'Escape') {
      choose(null);
    } else if (here && event.target.matches('.wide, body') && event.key.startsWith('Arrow')) {
      event.preventDefault();
      const row = here.closest('tr');
      const visible = [...row.parentElement.rows].filter((one) => !one.hidden);
      const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
      const next = step ? visible[visible.indexOf(row) + step] && in_column(visible[visible.indexOf(row) + step], column(here))
        : event.key === 'ArrowLeft' ? here.previousElementSibling : here.nextElementSibling;
      if (next && next.matches('td')) choose(next);
    }
  });
  addEventListener('hashchange', follow);
  follow();
})();
