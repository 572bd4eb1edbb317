// Runs inside a copy of a page: uses what its script gives, and tells the page around it what is wrong.
'use strict';
window.addEventListener('load', () => {
  const wrong = [];
  const expect = (fact, what) => { if (!fact) wrong.push(what); };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const visible = () => all('.wide > table > tbody > tr').filter((row) => row.getClientRects().length > 0 && !row.hidden);
  const total = all('.wide > table > tbody > tr').length;
  const said = document.getElementById('said');

  const search = document.querySelector('.bar input');
  const look_for = (text) => {
    search.value = text;
    search.dispatchEvent(new Event('input'));
  };
  look_for('marlin');
  expect(visible().length > 0 && visible().every((row) => /marlin/i.test(row.textContent + [...row.cells].map((cell) => cell.title).join())), 'a search leaves other rows');
  expect(document.querySelector('.bar output').textContent.endsWith(`of ${total} rows`), 'a search does not count');
  look_for('no such word');
  expect(visible().length === 0, 'a search for what is not there leaves rows');
  look_for('');
  expect(all('tr[hidden], .wide[hidden]').length === 0, 'an empty search hides rows');

  const filter = document.querySelector('.bar button.failed');
  filter.click();
  expect(filter.ariaPressed === 'true' && visible().length > 0 && visible().every((row) => row.querySelector('.failed')), 'the filter of failures leaves other rows');
  filter.click();

  const head = document.querySelector('[aria-label="runs"] thead th');
  const names = () => [...head.closest('table').tBodies[0].rows].map((row) => row.cells[0].textContent);
  const before = names();
  head.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
  expect(head.ariaSort === 'ascending' && names().join() === [...before].sort().join(), 'a key does not sort');
  head.click();
  expect(head.ariaSort === 'descending' && names().join() === [...before].sort().reverse().join(), 'a second click does not turn the order');

  const cell = document.querySelector('td[data-r]') || document.querySelector('td[title]');
  cell.click();
  expect(!said.hidden && said.textContent.includes(cell.textContent), 'a cell that is chosen says nothing');
  const about = cell.dataset.r ? cell.closest('.reasoned').querySelector('ol.reasons').children[cell.dataset.r - 1].textContent : cell.title;
  expect(said.textContent.includes(about), 'a cell that is chosen does not say its reason');
  const link = said.querySelector('a');
  document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
  expect(said.hidden, 'Escape does not leave the cell');
  const box = cell.closest('.wide');
  box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
  const first = document.querySelector('td.here');
  expect(first && box.contains(first), 'Enter chooses no cell');
  box.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  expect(document.querySelector('td.here') === first.nextElementSibling || first.nextElementSibling === null, 'an arrow does not go to the next cell');
  window.addEventListener('hashchange', () => {
    expect(document.querySelector('td.here') === cell, 'the link to a cell leads elsewhere');
    expect(cell.getClientRects().length > 0, 'the link to a cell leads into a closed part');
    parent.postMessage({wrong, total}, '*');
  });
  location.hash = link.hash;
});
