import { expect, it } from 'vitest';
import { citations } from './field-case-citations.mjs';

it('reads the numbers out of titles, several in one too', () => {
  const source = `
    it('begins anew (field-case 27)', async () => {
    it("isn't lost (A8, field-cases 45, 46)", async () => {
    it(\`a name is kept (field-cases 66 and 67)\`, async () => {`;
  expect(citations(source)).toEqual([
    { number: 27, title: 'begins anew (field-case 27)' },
    { number: 45, title: "isn't lost (A8, field-cases 45, 46)" },
    { number: 46, title: "isn't lost (A8, field-cases 45, 46)" },
    { number: 66, title: 'a name is kept (field-cases 66 and 67)' },
    { number: 67, title: 'a name is kept (field-cases 66 and 67)' },
  ]);
});

it('takes a comment for no proof', () => {
  const source = `
/**
 * It doesn't 'matter' (field-case 1).
 */
// 'so' (field-case 2)
const a = 1; // 'nor' (field-case 3)
it('counts (field-case 4)', () => {`;
  expect(citations(source).map(({ number }) => number)).toEqual([4]);
});
