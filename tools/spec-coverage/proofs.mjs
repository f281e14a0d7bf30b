import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/paths.mjs';
import { extractItems } from './extract-items.mjs';

export const SPECIFICATION = 'test/specification/node-upgrade-rollout.md';
export const PROOFS = 'test/specification/proofs.yaml';

/** @typedef {{ items: string[], test: string, title: string }} Proof */

/** @returns {import('./extract-items.mjs').Item[]} every promise of the specification */
export function specificationItems() {
  return extractItems(readFileSync(join(ROOT, SPECIFICATION), 'utf8'));
}

/** @returns {Proof[]} which test proves which items; `*` in an item stands for any text */
export function readProofs() {
  return parse(readFileSync(join(ROOT, PROOFS), 'utf8'));
}

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether an item's id fits the pattern. */
export function fits(pattern, id) {
  return new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`).test(id.replaceAll('*', '⁎'));
}

/** Ids of the items that the test of this title in this file is said to prove. */
export function itemsProvenBy(test, title) {
  const patterns = readProofs()
    .filter((proof) => proof.test === test && proof.title === title)
    .flatMap(({ items }) => items);
  const ids = specificationItems().map(({ id }) => id);
  return ids.filter((id) => patterns.some((pattern) => fits(pattern, id)));
}

/**
 * What is wrong with the list of proofs: tests that are not there and patterns that fit nothing.
 * @returns {string[]}
 */
export function brokenProofs(proofs, items, readTest) {
  return proofs.flatMap(({ items: patterns, test, title }) => {
    const source = readTest(test);
    if (source === undefined) return [`${PROOFS}: there is no ${test}`];
    const known = source.includes(title) || source.includes(title.replaceAll("'", "\\'"));
    const idle = patterns.filter((pattern) => !items.some(({ id }) => fits(pattern, id)));
    return [
      ...(known ? [] : [`${PROOFS}: ${test} has no test "${title}"`]),
      ...idle.map((pattern) => `${PROOFS}: the specification has no item ${pattern}`),
    ];
  });
}

/** Each item with the tests that prove it. */
export function coverage(proofs, items) {
  return items.map((item) => ({
    item,
    proofs: proofs.filter(({ items: patterns }) => patterns.some((pattern) => fits(pattern, item.id))),
  }));
}
