// Runs inside a copy of a report: opens every part, measures, and tells the page around it what is wrong.
'use strict';
const wrong = [];
const say = (what, element) => {
  const text = (element && element.textContent || '').trim().slice(0, 60);
  if (wrong.length < 40) wrong.push(what + (text ? ': ' + text : ''));
};
window.addEventListener('error', (event) => say('error ' + event.message));

function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor.match(/[\d.]+/g).map(Number);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}

// WCAG 2: relative luminance and contrast.
function luminance(colour) {
  const [r, g, b] = colour.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function measure() {
  document.querySelectorAll('details').forEach((part) => part.open = true);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) say(`the page is ${root.scrollWidth} wide in ${root.clientWidth}`);
  let texts = 0;
  for (const element of document.body.querySelectorAll('*')) {
    if (element.closest('svg') || element.closest('script')) continue;
    const box = element.getBoundingClientRect();
    const scrolls = element.closest('.wide, pre');
    if (!scrolls && (box.left < -0.5 || box.right > root.clientWidth + 0.5)) say('sticks out of the page', element);
    const style = getComputedStyle(element);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && !/auto|scroll/.test(style.overflowX) && !scrolls) say('is clipped', element);
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!own) continue;
    ++texts;
    if (box.width === 0 || box.height === 0) say('has no size', element);
    const ratio = contrast(style.color.match(/[\d.]+/g).map(Number), ground(element));
    if (ratio < 4.5) say(`has a contrast of ${ratio.toFixed(2)}`, element);
  }
  let shapes = 0;
  for (const picture of document.querySelectorAll('svg:not(.none)')) {
    const [, , width, height] = picture.getAttribute('viewBox').split(' ').map(Number);
    for (const shape of picture.querySelectorAll('text, rect, line, path, circle')) {
      ++shapes;
      const box = shape.getBBox();
      const inside = box.x >= -1 && box.y >= -1 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1;
      if (!inside) say(`lies outside its picture of ${width} x ${height}`, shape);
    }
    for (const shape of picture.querySelectorAll('[fill^="url("]')) {
      if (!document.getElementById(shape.getAttribute('fill').slice(5, -1))) say('has a fill that is not there', shape);
    }
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) say('an id is there twice');
  for (const link of document.querySelectorAll('a')) {
    if (!document.getElementById(link.getAttribute('href').slice(1))) say('leads nowhere', link);
  }
  if (performance.getEntriesByType('resource').length > 0) say('something was fetched');
  return {width: root.clientWidth, dark: matchMedia('(prefers-color-scheme: dark)').matches, texts, shapes, wrong};
}

window.addEventListener('load', () => parent.postMessage(measure(), '*'));
