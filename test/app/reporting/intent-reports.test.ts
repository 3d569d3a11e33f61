import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CheckContent } from '../../../app/github/github-api.ts';
import { checkOf, intentDeploymentReport } from '../../../app/reporting/intent-reports.ts';
import { deploymentStateOf, outcomeStatuses, stateStatuses } from '../../../app/reporting/check-status.ts';
import { intentOutcomeKinds, type Intent } from '../../../app/reconcile/intent.ts';
import { readIntent, toStored } from '../../../app/reconcile/stored-intent.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { withTables } from '../../../scripts/reference-tables.ts';
import { anEnded, anIntent, commit, morning, newer } from '../an-intent.ts';

const now = morning + 90_000;
const contentOf = (intent: Intent, about: Partial<Parameters<typeof checkOf>[1]> = {}): CheckContent => {
  const { wanted } = checkOf(intent, { now, ...about });
  if (wanted.kind !== 'check') throw new Error('no check');
  return wanted.content;
};
const aSmokeTest: SmokeTest = {
  name: 'greets',
  assistant: 'echo',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [],
  attempts: 1,
  timeoutMs: 1000,
};
const labels = (intent: Intent) => (contentOf(intent).actions ?? []).map(({ label }) => label);

describe('the conclusion', () => {
  test.each([
    ['a live revision without a failure is green', 'deployed', 'success'],
    ['could not reach is neither green nor bad: a person looks', 'unproven', 'action_required'],
    ['a wrong answer is red', 'broken', 'failure'],
    ['a rollback is red', 'rolled-back', 'failure'],
    ['a failed build is red', 'failed', 'failure'],
    ['a superseded commit is neutral', 'superseded', 'neutral'],
    ['an interrupted revision is cancelled', 'interrupted', 'cancelled'],
    ['a wait without end has timed out', 'timed-out', 'timed_out'],
    ['a refusal is red', 'refused', 'failure'],
    ['an unknown effect needs a person', 'unknown', 'action_required'],
    ['a skip is neutral', 'skipped', 'neutral'],
    ['a joined cause is neutral', 'joined', 'neutral'],
    ['a revision that the service never made is red', 'absent', 'failure'],
    ['another commit than the pushed one is neutral', 'other-commit', 'neutral'],
  ] as const)('%s', (_, kind, conclusion) => {
    expect(contentOf(anEnded({ kind }))).toMatchObject({
      status: 'completed',
      conclusion,
      completedAt: '2026-01-05T08:01:00.000Z',
    });
  });

  test('exists for every outcome', () =>
    expect(Object.keys(outcomeStatuses).toSorted()).toEqual([...intentOutcomeKinds].toSorted()));

  test.each(['superseded', 'other-commit'] as const)(
    '%s turns green once the commit that contains it is live',
    (kind) => {
      const content = contentOf(anEnded({ kind, by: { commit: newer, contains: true }, liveIn: newer }));
      expect(content.conclusion).toBe('success');
      expect(content.title).toBe('Live in decade0');
      expect(content.summary).toContain(newer);
    },
  );

  test('no other outcome is green', () => {
    const green = intentOutcomeKinds.filter(
      (kind) => contentOf(anEnded({ kind, liveIn: newer })).conclusion === 'success',
    );
    expect(green).toEqual(['deployed', 'superseded', 'other-commit']);
  });

  test.each([
    'requested',
    'waiting',
    'measuring',
    'sending',
    'expecting',
    'following',
    'testing',
    'deciding',
    'concluding',
    'undoing',
  ] as const)('before the end, %s is open and has none', (state) => {
    const content = contentOf(anIntent(state));
    expect(content.status).not.toBe('completed');
    expect(content.conclusion).toBeUndefined();
    expect(content.completedAt).toBeUndefined();
    expect(content.actions).toBeUndefined();
  });

  test('a held check waits for a person, so it is completed', () => {
    expect(contentOf(anIntent('paused'))).toMatchObject({ conclusion: 'action_required' });
    expect(labels(anIntent('paused'))).toEqual(['Redeploy']);
  });

  test('an ended intent without an outcome needs a person too, never green', () => {
    const { end: _, ...stored } = toStored(anIntent('ended'));
    expect(contentOf(readIntent(stored)).conclusion).toBe('action_required');
  });
});

describe('the documentation', () => {
  const unaligned = (page: string): string => page.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');
  const rows = (lines: string[][]): string => lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  test('docs/checks.md has the table of the code', () => {
    const states = Object.entries(stateStatuses).map(([state, { checkStatus, why }]) => [
      `\`${state}\``,
      checkStatus.status === 'completed' ? `\`completed\`, \`${checkStatus.conclusion}\`` : `\`${checkStatus.status}\``,
      why,
    ]);
    const ends = intentOutcomeKinds.map((kind) => [
      `\`${kind}\``,
      `\`${outcomeStatuses[kind].conclusion}\``,
      `\`${deploymentStateOf(anEnded({ kind }))}\``,
      outcomeStatuses[kind].why,
    ]);
    const made = {
      states: `| state | check | why |\n|---|---|---|\n${rows(states)}`,
      ends: `| end | conclusion | deployment | why |\n|---|---|---|---|\n${rows(ends)}`,
    };
    const page = readFileSync(join(import.meta.dirname, '../../../docs/checks.md'), 'utf8');
    expect(unaligned(page)).toBe(unaligned(withTables(page, made)));
  });
});

describe('the buttons', () => {
  const gone = { kind: 'skipped', reason: 'The branch is gone.', at: now } as const;
  test.each([
    ['a live revision can go back and be built again', anEnded({ kind: 'deployed' }), ['Rollback', 'Redeploy']],
    ['a broken one too', anEnded({ kind: 'broken' }), ['Rollback', 'Redeploy']],
    [
      'the first revision has nothing to go back to',
      anEnded({ kind: 'deployed' }, { former: { live: null } }),
      ['Redeploy'],
    ],
    [
      'an adopted live revision is its own former one',
      anEnded({ kind: 'deployed' }, { former: { live: 'r2' } }),
      ['Redeploy'],
    ],
    ['a failed one serves not, so nothing goes back', anEnded({ kind: 'failed' }), ['Redeploy']],
    ['a superseded one is reported by another', anEnded({ kind: 'superseded' }), []],
    [
      'a skip by a word may be overruled',
      anEnded({ kind: 'skipped' }, { decision: { kind: 'skip', code: 'skip-word', word: '[skip ci]' } }),
      ['Redeploy'],
    ],
    ['a branch that is gone has no head to build', anIntent('ended', { end: gone }), []],
    [
      'a skip that is no question of will has none',
      anEnded({ kind: 'skipped' }, { decision: { kind: 'skip', code: 'not-installed' } }),
      [],
    ],
  ])('%s', (_, intent, expected) => expect(labels(intent)).toEqual(expected));

  test.each(intentOutcomeKinds)('fit into what GitHub takes: %s', (kind) => {
    const actions = contentOf(anEnded({ kind })).actions ?? [];
    expect(actions.length).toBeLessThanOrEqual(3);
    for (const { label, description, identifier } of actions) {
      expect(label.length).toBeLessThanOrEqual(20);
      expect(description.length).toBeLessThanOrEqual(40);
      expect(identifier.length).toBeLessThanOrEqual(20);
    }
  });
});

describe('the words', () => {
  test('a check belongs to its deployment and head commit', () => {
    expect(checkOf(anIntent('requested'), { now })).toMatchObject({
      kind: 'check',
      headSha: commit,
      name: 'Landfall: echo',
    });
  });

  test('waiting names what is under way', () => {
    const content = contentOf(anIntent('waiting'), { waitingFor: { commit: newer, revisionId: 'r9' } });
    expect(content).toMatchObject({ status: 'queued', title: 'Waits for decade0, which is under way' });
    expect(content.summary).toContain('r9');
  });

  test('superseded names the commit that contains it', () => {
    const { title, summary } = contentOf(anEnded({ kind: 'superseded', by: { commit: newer, contains: true } }));
    expect(title).toBe('Superseded by decade0');
    expect(summary).toContain(`${newer}</code>, which contains this one`);
  });

  test('says if another commit does not contain it', () => {
    const end = { kind: 'superseded', by: { commit: newer, contains: false } } as const;
    expect(contentOf(anEnded(end)).summary).toContain('which does not contain this one');
  });

  test('a recovered push says how late', () => {
    const cause = { kind: 'recovery', key: 'k', at: morning, lateMs: 7 * 60_000 } as const;
    const content = contentOf(anEnded({ kind: 'deployed' }, { cause }));
    expect(content.title).toBe('Live, recovered 7 minutes late');
    expect(content.summary).toContain('Recovered, 7 minutes late');
  });

  test('contains the decision with its reason', () => {
    const decision = { kind: 'trigger', code: 'failure' } as const;
    expect(contentOf(anIntent('sending', { decision })).summary).toContain(
      '**Decision:** trigger, because the live revision fails its smoke tests.',
    );
  });

  test('lists differences between file and deployment, and how to apply them', () => {
    const terms = { ...anIntent('requested').terms, differences: [{ field: 'resource_spec.cpu', from: '1', to: '2' }] };
    const { summary } = contentOf(anIntent('requested', { terms }));
    expect(summary).toContain('| <code>resource&#95;spec.cpu</code> | <code>1</code> | <code>2</code> |');
    expect(summary).toContain('Apply the file');
  });

  test('the text holds plan, timeline, smoke table and log lines', () => {
    const intent = anEnded(
      { kind: 'broken', logs: [{ message: 'boom' }] },
      {
        sends: 1,
        rollout: {
          kind: 'live',
          revisionId: 'r2',
          seen: [
            { status: 'BUILDING', at: morning },
            { status: 'DEPLOYED', at: morning + 41_000 },
          ],
        },
        verdict: {
          kind: 'failed',
          tests: [{ name: 'greets', attempts: 1, verdict: { kind: 'failed', held: [], firstEventMs: 3, totalMs: 9 } }],
        },
      },
    );
    const { text = '' } = contentOf(intent);
    for (const part of [
      '### Plan: patch',
      '### Timeline',
      '41 s',
      '### Smoke tests: failed',
      'greets',
      '### Last log lines',
      'boom',
    ]) {
      expect(text).toContain(part);
    }
  });

  test.each([
    ['nothing is decided', anIntent('requested')],
    ['it waits for another', anIntent('waiting')],
    ['it was superseded before it was sent', anIntent('ended', { end: { kind: 'superseded', reason: 'x', at: now } })],
    ['what was to be sent surely never went out', anIntent('requested', { sends: 0, sentAt: morning })],
  ])('there is no plan where %s', (_, intent) => expect(contentOf(intent).text ?? '').not.toContain('### Plan'));

  test.each([
    ['No smoke test is named for it', 0],
    ['1 smoke test runs', 1],
    ['2 smoke tests run', 2],
  ])('%s while it is tested', (words, many) => {
    const smokeTests = Array.from({ length: many }, (_, n) => ({ ...aSmokeTest, name: `test ${n}` }));
    const intent = anIntent('testing', { terms: { ...anIntent('requested').terms, smokeTests } });
    expect(contentOf(intent).summary).toContain(words);
  });

  test('reports progress in steps, so that observing alone changes nothing', () => {
    const rollout = { kind: 'in-progress', revisionId: 'r2', seen: [{ status: 'BUILDING', at: morning }] } as const;
    const at = (ms: number) => contentOf(anIntent('following', { rollout }), { now: morning + ms });
    expect(at(16_000)).toEqual(at(29_999));
    expect(at(16_000)).not.toEqual(at(30_000));
    expect(at(30_000).title).toBe('BUILDING for 30 s');
    const hour = new Set(Array.from({ length: 3600 }, (_, second) => at(second * 1000).title));
    expect(hour.size).toBeLessThan(30);
  });

  test.each([
    ['an address of the agent', 'https://echo.example/', 'https://echo.example/'],
    ['no address', undefined, undefined],
    ['an address that GitHub would refuse', 'javascript:alert(1)', undefined],
    ['an address that holds a password', 'https://me:pw@echo.example', undefined],
  ])('details lead to %s', (_, agentUrl, expected) => {
    expect(contentOf(anIntent('testing', agentUrl === undefined ? {} : { agentUrl })).detailsUrl).toBe(expected);
  });
});

describe('third-party texts', () => {
  const hostile =
    '```\n</code><img src=x> @everyone #1 http://evil.example www.evil.example [a](b) \u202egnp.exe \u001b[31m | ~~x~~ ::error::';
  const everywhere = anEnded(
    {
      kind: 'failed',
      reason: hostile,
      advice: hostile,
      logs: [{ message: hostile }, { message: `${'`'.repeat(9)} end` }],
    },
    {
      agentUrl: hostile,
      decision: { kind: 'trigger', why: hostile },
      cause: { kind: 'rerun', key: 'k', at: morning, by: hostile },
      terms: {
        ...anIntent('requested').terms,
        deploymentName: hostile,
        notes: [hostile],
        differences: [{ field: hostile, from: hostile, to: hostile }],
      },
      rollout: {
        kind: 'failed',
        status: hostile,
        revisionId: hostile,
        seen: [{ status: hostile, at: morning }],
        buildWarnings: [hostile],
      },
      verdict: {
        kind: 'unproven',
        tests: [{ name: hostile, attempts: 2, verdict: { kind: 'unproven', because: 'unreachable', why: hostile } }],
      },
    },
  );

  test('have no effect outside of code blocks', () => {
    const { summary, text = '', title } = contentOf(everywhere);
    const outside = `${summary}\n${text}`.replace(/^(`{3,})text$[\s\S]*?^\1$/gm, '');
    expect(outside).not.toMatch(/@everyone|http:\/\/|www\.|#1\b|<img|\]\(|```|~~/);
    expect(`${title}${summary}${text}`).not.toMatch(/[\u202a-\u202e\u0000-\u0008\u001b]/);
    expect(title).not.toContain('\n');
  });

  test('cannot leave a code block', () => {
    const { text = '' } = contentOf(everywhere);
    expect(text).toMatch(/^`{10}text$/m);
    expect(text.trimEnd().endsWith('`'.repeat(10))).toBe(true);
  });

  test.each([
    [
      'long log lines',
      anEnded({ kind: 'failed', logs: Array.from({ length: 100 }, () => ({ message: 'é€😀'.repeat(900) })) }),
    ],
    ['a long reason', anEnded({ kind: 'failed', reason: '😀'.repeat(70_000), advice: '`'.repeat(70_000) })],
    [
      'thousands of notes',
      anIntent('requested', {
        terms: { ...anIntent('requested').terms, notes: Array.from({ length: 5000 }, (_, n) => `note ${n} &`) },
      }),
    ],
  ])('of any size fit: %s', (_, intent) => {
    const { title, summary, text = '' } = contentOf(intent);
    expect(title.length).toBeLessThanOrEqual(140);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(65_535);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_535);
    for (const each of [title, summary, text]) expect(each.isWellFormed()).toBe(true);
    const fences = [...text.matchAll(/^`{3,}(?:text)?$/gm)];
    expect(fences.length % 2).toBe(0);
  });
});

describe('the GitHub Deployment', () => {
  const put = (intent: Intent) => intentDeploymentReport(intent, { now })?.wanted.content;

  test.each(['requested', 'waiting', 'paused', 'expecting'] as const)('%s has none yet', (state) => {
    expect(intentDeploymentReport(anIntent(state), { now })).toBeUndefined();
  });

  test('does not exist for a skipped or superseded push without a revision', () => {
    const end = { kind: 'superseded', reason: 'x', at: now } as const;
    expect(intentDeploymentReport(anIntent('ended', { end }), { now })).toBeUndefined();
  });

  test('belongs to the intent, and to the environment of the terms', () => {
    const report = intentDeploymentReport(anEnded({ kind: 'deployed' }, { agentUrl: 'https://echo.example' }), { now });
    expect(report).toMatchObject({ kind: 'deployment', headSha: commit, name: anIntent('requested').id });
    expect(report?.wanted.content).toEqual({
      environment: 'production',
      production: true,
      transient: false,
      state: 'success',
      description: 'echo at c0ffee0: Live',
      environmentUrl: 'https://echo.example/',
    });
  });

  test.each([
    ['deployed', 'success'],
    ['unproven', 'error'],
    ['broken', 'failure'],
    ['rolled-back', 'failure'],
    ['failed', 'failure'],
    ['superseded', 'inactive'],
    ['interrupted', 'error'],
    ['timed-out', 'error'],
    ['unknown', 'error'],
    ['other-commit', 'inactive'],
  ] as const)('%s is %s', (kind, state) => expect(put(anEnded({ kind }))).toMatchObject({ state }));

  test.each([true, undefined])('says that an environment is shared (%s)', (shared) => {
    const { terms } = anIntent('requested');
    const environment = { ...terms.environment, ...(shared ? { shared } : {}) };
    const content = put(anEnded({ kind: 'deployed' }, { terms: { ...terms, environment } }));
    expect(content && 'shared' in content ? content.shared : undefined).toBe(shared);
  });

  test('has a description of at most 140 characters', () => {
    const terms = { ...anIntent('requested').terms, deploymentName: 'n'.repeat(300) };
    const content = put(anEnded({ kind: 'deployed' }, { terms }));
    expect(content && 'description' in content ? content.description.length : 0).toBe(140);
  });

  test('does not change by time alone', () => {
    const rollout = { kind: 'in-progress', revisionId: 'r2', seen: [{ status: 'BUILDING', at: morning }] } as const;
    const intent = anIntent('following', { revisionId: 'r2', rollout });
    expect(intentDeploymentReport(intent, { now: morning })).toEqual(
      intentDeploymentReport(intent, { now: morning + 600_000 }),
    );
  });
});

test('shows notes with a code, and those that were stored as sentences', () => {
  const stored = 'verify: before-traffic is not possible: so it is';
  const notes = [stored, { code: 'not-offered', verify: 'before-traffic' }, { code: 'uncompared', test: 'a' }] as const;
  const { summary } = contentOf(anIntent('requested', { terms: { ...anIntent('requested').terms, notes } }));
  expect(summary.split('### Notes')[1]).toMatch(
    /^\n\n- verify.* so it is\n- verify.* does not hold revisions\. .*\n- Smoke test a has no live revision/,
  );
});
