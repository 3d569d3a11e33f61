import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { summary } from '../../../src/deploy/words/summary.ts';
import { timeline } from '../../../src/deploy/words/timeline.ts';
import { toResultJson } from '../../../src/deploy/words/result-json.ts';

const deployed: Outcome = {
  kind: 'deployed',
  reason: 'revision r2 is live and answered',
  passes: true,
  deploymentName: 'echo',
  deploymentId: 'd1',
  revisionId: 'r2',
  activeRevisionId: 'r2',
  deploymentUrl: 'https://echo.example',
  changed: true,
  plan: {
    kind: 'patch',
    makesRevision: true,
    changes: [
      { field: 'secrets.KEY', from: 'set', to: 'set', makesRevision: true, why: 'its value differs' },
      { field: 'source_revision_config.repo_ref', from: 'main', to: 'main', makesRevision: true, why: 'restated' },
    ],
  },
  rollout: {
    kind: 'live',
    revisionId: 'r2',
    seen: [
      { status: 'QUEUED', at: 0 },
      { status: 'BUILDING', at: 2000 },
      { status: 'DEPLOYED', at: 42_000 },
    ],
  },
  verdict: {
    kind: 'failed',
    tests: [
      {
        name: 'greets',
        attempts: 1,
        verdict: {
          kind: 'failed',
          firstEventMs: 12.4,
          totalMs: 80,
          held: [
            {
              expectation: { kind: 'status', equals: 'success' },
              held: false,
              expected: 'status equals success',
              seen: '@everyone ```',
            },
          ],
        },
      },
    ],
  },
  logs: [{ message: '``` npm ERR! <b>' }],
  notes: [],
};

describe('the timeline', () => {
  test('draws each status from its start to the next one', () => {
    expect(timeline(deployed.rollout?.seen ?? [])).toEqual([
      'QUEUED    |=                             | 2.0 s',
      'BUILDING  | ============================ | 40 s',
      'DEPLOYED  |                             *|',
    ]);
  });

  test('is empty where nothing was seen', () => expect(timeline([])).toEqual([]));
});

describe('the job summary', () => {
  test('shows plan, timeline, smoke table and log lines', () => {
    const text = summary(deployed);
    for (const part of [
      '## ✅',
      '### Plan: patch',
      'repo&#95;ref',
      '### Timeline',
      '### Smoke tests: failed',
      '### Last log lines',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('shows what others wrote without letting it act', () => {
    expect(summary(deployed)).not.toMatch(/@everyone/);
  });

  test.each([1_000, 3_000, 20_000, 1_000_000])('stays below %d bytes, and notes that it was truncated', (limit) => {
    const logs = Array.from({ length: 5000 }, (_, line) => ({ message: `${line} ${'ä'.repeat(400)}` }));
    const text = summary({ ...deployed, logs }, limit);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
    expect(text).toMatch(/\n\n_The rest did not fit into a step summary; the log of this step has it\._\n$/);
    expect(text.match(/^```/gm)?.length ?? 0).toSatisfy((fences: number) => fences % 2 === 0);
    expect(text.includes('\n1 ä')).toBe(limit >= 3_000);
  });

  test('has all of it where it fits', () => {
    expect(summary(deployed)).not.toContain('did not fit');
    expect(summary(deployed, Buffer.byteLength(summary(deployed)) + 200)).toBe(summary(deployed));
  });
});

describe('the result for machines', () => {
  test('has what a test against the live revision compared, without every time', () => {
    const comparison = {
      live: { right: 58, answers: 60 },
      changed: { right: 60, answers: 60 },
      unreachable: 1,
      measures: [{ measure: 'total', verdict: 'worse', decides: true, chance: 0.1, live: 10, changed: 13 } as const],
      times: { live: [10], changed: [13] },
      isBeside: true,
    };
    const verdict = { kind: 'unproven', because: 'undecided', why: '', comparison } as const;
    const result = toResultJson({
      ...deployed,
      verdict: { kind: 'unproven', tests: [{ name: 'greets', attempts: 122, verdict }] },
    });
    expect(result.smoke_tests[0]?.comparison).toEqual({
      answers: { live: 60, new: 60 },
      right_answers: { live: 58, new: 60 },
      unreachable: 1,
      beside: true,
      measures: [{ measure: 'total', verdict: 'worse', decides: true, p_value: 0.1, live: 10, new: 13 }],
    });
  });

  test('has the names of the outputs and the times of the first answered test', () => {
    expect(toResultJson(deployed)).toMatchObject({
      outcome: 'deployed',
      deployment_id: 'd1',
      revision_id: 'r2',
      plan: 'patch',
      changes: [{ field: 'secrets.KEY', makes_revision: true }, { field: 'source_revision_config.repo_ref' }],
      smoke_verdict: 'failed',
      first_event_ms: 12,
      total_ms: 80,
      rolled_back_to: null,
    });
  });
});
