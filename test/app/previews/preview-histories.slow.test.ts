import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { overriding } from '../../../src/kit/overriding.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import type { PreviewStore } from '../../../app/previews/preview-store.ts';
import { playPreviews, previewHistories } from './preview-history.ts';
import { previewViolations } from './preview-invariants.ts';
import { previewCode, type PreviewCode } from './preview-world.ts';

const runs = 10_000;

/** The violations of the first history that has some; empty where none of them has. */
async function searched(code: PreviewCode, numRuns: number, seed: number, only = /./): Promise<string> {
  const property = fc.asyncProperty(previewHistories(14), async (history) => {
    const found = previewViolations(await playPreviews(history, code)).filter((each) => only.test(each));
    if (found.length > 0) throw new Error(found.join('\n'));
  });
  const { failed, errorInstance, counterexample } = await fc.check(property, { numRuns, seed, endOnFailure: true });
  const message = errorInstance instanceof Error ? errorInstance.message : 'unknown';
  return failed ? `${message}\n${JSON.stringify(counterexample)}` : '';
}

test(`leaves no preview behind in ${runs} random histories`, { timeout: 30 * 60_000 }, async () => {
  expect(await searched(previewCode, runs, 11)).toBe('');
});

const withContext = (change: (context: PreviewContext) => Partial<PreviewContext>): PreviewCode => ({
  ...previewCode,
  contextOf: (context) => ({ ...context, ...change(context) }),
});
const withStore = (change: (store: PreviewStore) => Partial<PreviewStore>): PreviewCode =>
  withContext(({ previews }) => ({ previews: overriding<PreviewStore, PreviewStore>(previews, change(previews)) }));

/** Each is wrong in one way, and a history is found that shows it. */
const mutants: [string, PreviewCode, RegExp][] = [
  ['never sweeps', { ...previewCode, sweep: async () => ({ looked: 0, strays: 0, forgotten: 0 }) }, /after the end/],
  [
    'believes that what has no known id is gone',
    withContext(({ control }) => ({
      control: overriding<typeof control, typeof control>(control, {
        listDeployments: async (query) => {
          const { resources, offset } = await control.listDeployments(query);
          return { resources: resources.filter(({ name }) => !name.includes('-pr-')), offset };
        },
      }),
    })),
    /after the end|twice/,
  ],
  [
    'takes every commit for approved',
    withStore((store) => ({
      pull: async (key) => {
        const pull = await store.pull(key);
        return pull && { ...pull, approval: { commit: `${key.number}01`.padEnd(40, 'a'), by: 'x', at: 1 } };
      },
    })),
    /nobody approved/,
  ],
  [
    'gives production its secrets',
    withContext(() => ({ secretOf: () => 'production-value' })),
    /has the secrets .*production-value/,
  ],
  [
    'keeps no watch on newer versions',
    withStore((store) => ({
      preview: async (key) => {
        const preview = await store.preview(key);
        return preview && { ...preview, version: 1 };
      },
    })),
    /./,
  ],
];

describe('finds an App that', () => {
  test.each(mutants)('%s', { timeout: 10 * 60_000 }, async (_, code, only) => {
    expect(await searched(code, 3_000, 5, only)).toMatch(only);
  });
});
