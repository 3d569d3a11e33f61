import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deliveries, killSteps, promotionSteps, rowOf, tableHead } from './kill-steps.ts';
import { killedAt, type Fared } from './killed-at.ts';

const root = join(import.meta.dirname, '../../..');
const document = readFileSync(join(root, 'docs/reliability.md'), 'utf8');
const once: Omit<Fared, 'acknowledged'> = {
  died: 'SIGKILL',
  revisions: 1,
  serves: true,
  check: 'success',
  checks: 1,
  open: 0,
};

const cases = Object.keys(killSteps).flatMap((step) =>
  deliveries.map(({ copies, words }) => ({ step, copies, words })),
);

test('killed at any step, the App still makes one live revision and one check run', async () => {
  const rows = new Map<string, string>();
  const left = [...cases];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { step, copies, words } = next;
      const { acknowledged, ...fared } = await killedAt(step, copies);
      rows.set(`${step} ${words}`, rowOf(step, words, fared));
      expect({ step, words, ...fared }).toEqual({ step, words, ...once });
      // Killed after storing, it had responded.
      expect(step === 'stored' || !acknowledged.startsWith('0 '), `${step}: ${acknowledged}`).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const table = [...tableHead, ...cases.map(({ step, words }) => rows.get(`${step} ${words}`))].join('\n');
  console.log(table);
  expect(document).toContain(table);
});

const atOnce = 5;

test('killed at any step of a promotion, the App makes one revision of it', async () => {
  const left = [...promotionSteps];
  const worker = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) {
      const { acknowledged: _, ...fared } = await killedAt(step, 2, true);
      expect({ step, ...fared }).toEqual({ step, ...once });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
});

test('sweeps every step of the App, and no other', () => {
  const named = readdirSync(join(root, 'app'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(root, 'app', file), 'utf8').matchAll(/\bstep\?\.\(\s*'([^']+)'/g)])
    .map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Object.keys(killSteps)));
});

test('the document has a row for every step and both kinds of delivery', () => {
  const rows = document.split('\n').filter((line) => line.startsWith('| `'));
  expect(
    rows.map((row) =>
      row
        .split('|')
        .slice(1, 4)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(cases.map(({ step, words }) => [`\`${step}\``, killSteps[step], words]));
});
