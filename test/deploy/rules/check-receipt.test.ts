import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/contract/control/revision-history.ts';
import type { StoredVerdict } from '../../../src/contract/control/verdict.ts';
import type { ReceiptPredicate } from '../../../src/contract/receipt.ts';
import { checkReceipt } from '../../../src/deploy/rules/check-receipt.ts';
import { type CheckedReceipt, type ReceiptRecords, servingNow } from '../../../src/deploy/rules/receipt-claims.ts';

const service = 'https://host';
const commit = 'a'.repeat(40);
const runUrl = 'https://github.com/acme/agents/actions/runs/7';

const predicate: ReceiptPredicate = {
  operation: 'deploy',
  outcome: 'deployed',
  passes: true,
  changed: true,
  service: { address: service, tenant_id: 'tenant' },
  deployment: { id: 'd1', name: 'support' },
  revision: { id: 'r2', build_digest: null, commit, source_digest: null, image: null },
  rollback: null,
  plan: { kind: 'patch', fields: [{ field: 'secrets.KEY', makes_revision: true }] },
  rollout: {
    result: 'live',
    statuses: [
      { status: 'BUILDING', at: '2026-01-02T03:04:10.000Z' },
      { status: 'DEPLOYED', at: '2026-01-02T03:04:50.000Z' },
    ],
  },
  verdict: {
    result: 'passed',
    verified: 'before-traffic',
    tests: [
      {
        name: 'says hello',
        verdict: 'passed',
        attempts: 1,
        because: null,
        expectations: 1,
        held: 1,
        first_event_ms: 5,
        total_ms: 9.5,
        answers: null,
        right_answers: null,
        comparison: [],
      },
    ],
  },
  by: {
    program: 'action',
    workflow: {
      repository: 'acme/agents',
      workflow: null,
      event: 'push',
      actor: 'ada',
      commit,
      run_id: '7',
      run_attempt: 1,
      run_url: runUrl,
    },
  },
  started_at: '2026-01-02T03:04:05.000Z',
  ended_at: '2026-01-02T03:05:05.000Z',
  landfall_version: '0.1.0',
};

const { workflow } = predicate.by;

const storedVerdict: StoredVerdict = {
  id: 'v1',
  created_at: '2026-01-02T03:05:00.000Z',
  kind: 'passed',
  reporter: 'action',
  details_url: runUrl,
  tests: [
    {
      name: 'says hello',
      kind: 'passed',
      attempts: 1,
      expectations: [{ expected: 'it greets', seen: 'hello', held: true }],
      why: null,
      first_event_ms: 5,
      total_ms: 9.5,
    },
  ],
};

const revision = {
  id: 'r2',
  status: 'DEPLOYED',
  created_at: '2026-01-02T03:04:06.000Z',
  source_revision_config: { repo_commit_sha: commit },
};

const history: HistoryEntry = {
  revision,
  cause: { kind: 'patch', actor: 'key', key_id: null, key_name: null, redeploy_of: null },
  commit: null,
  statuses: ['BUILDING', 'DEPLOYED'].map((status) => ({ status, message: null, at: '2026-01-02T03:04:50.000Z' })),
  changed_fields: ['secrets.KEY', 'source_revision_config.repo_ref'],
  verdict: null,
  is_live: true,
  can_redeploy: true,
};

const deployment = { id: 'd1', name: 'support', tenant_id: 'tenant', active_revision_id: 'r2' };
const records: ReceiptRecords = { deployment, revision, history, verdicts: [storedVerdict] };

interface Changed {
  claimed?: Partial<ReceiptPredicate>;
  recorded?: ReceiptRecords;
  more?: Partial<CheckedReceipt>;
}

const checkedOf = ({ claimed, recorded, more }: Changed = {}): CheckedReceipt => ({
  predicate: { ...predicate, ...claimed },
  subject: 'predicate',
  service,
  records: { ...records, ...recorded },
  now: Date.parse('2026-01-03T00:00:00.000Z'),
  testName: (name) => name,
  ...more,
});

/** Every claim that does not hold, as `claim: code`. */
const findings = (changed: Changed, result: 'fails' | 'unknown' = 'fails'): string[] =>
  checkReceipt(checkedOf(changed))
    .filter((each) => each.result === result)
    .map(({ claim, code }) => `${claim}: ${code}`);

test('every claim of a genuine receipt holds', () => {
  const claims = checkReceipt(checkedOf());
  expect(claims.map(({ claim, result }) => `${claim} ${result}`)).toEqual([
    'subject holds',
    'service holds',
    'times holds',
    'tenant holds',
    'deployment holds',
    'revision holds',
    'commit holds',
    'outcome holds',
    'verdict holds',
    'plan holds',
    'by holds',
  ]);
});

const digest = `sha256:${'c'.repeat(64)}`;
const [tested] = predicate.verdict.tests;
const withTest = (change: Partial<NonNullable<typeof tested>>): Partial<ReceiptPredicate> => ({
  verdict: { ...predicate.verdict, tests: predicate.verdict.tests.map((each) => ({ ...each, ...change })) },
});
const rolledBack = { to_revision_id: 'r1', revision_id: 'r3', done: true };

test.each<[string, Changed, string[]]>([
  ['another subject', { more: { subject: 'other' } }, ['subject: subject-differs']],
  [
    'another service',
    { claimed: { service: { address: 'https://other', tenant_id: 'tenant' } } },
    ['service: differs'],
  ],
  ['another tenant', { claimed: { service: { address: service, tenant_id: 'other' } } }, ['tenant: differs']],
  ['another name', { claimed: { deployment: { id: 'd1', name: 'production' } } }, ['deployment: differs']],
  ['a deployment that is not there', { recorded: { deployment: null } }, ['deployment: absent']],
  ['a revision of another deployment', { recorded: { revision: null } }, ['revision: absent']],
  [
    'an edited commit',
    {
      claimed: { revision: { id: 'r2', build_digest: null, commit: 'b'.repeat(40), source_digest: null, image: null } },
    },
    ['commit: differs'],
  ],
  [
    'another folder',
    {
      claimed: { revision: { id: 'r2', build_digest: null, commit: null, source_digest: digest, image: null } },
      recorded: { revision: { ...revision, source_revision_config: { source_tarball_digest: 'sha256:0' } } },
    },
    ['source_digest: differs'],
  ],
  [
    'another build',
    {
      claimed: { revision: { id: 'r2', build_digest: digest, commit: null, source_digest: null, image: null } },
      recorded: { revision: { ...revision, build_digest: 'sha256:0' } },
    },
    ['build_digest: differs'],
  ],
  [
    'another image',
    {
      claimed: {
        revision: { id: 'r2', build_digest: null, commit: null, source_digest: null, image: 'registry/a@sha256:1' },
      },
      recorded: { revision: { ...revision, source_revision_config: { image_uri: 'registry/a@sha256:2' } } },
    },
    ['image: differs'],
  ],
  [
    'a revision that never was live',
    {
      recorded: {
        revision: { ...revision, status: 'BUILD_FAILED' },
        history: { ...history, statuses: [{ status: 'BUILD_FAILED', message: null, at: '' }] },
      },
    },
    ['outcome: status-not-recorded'],
  ],
  [
    'statuses in another order',
    {
      claimed: {
        rollout: {
          result: 'live',
          statuses: [
            { status: 'DEPLOYED', at: '2026-01-02T03:04:50.000Z' },
            { status: 'BUILDING', at: '2026-01-02T03:04:51.000Z' },
          ],
        },
      },
    },
    ['outcome: status-not-recorded'],
  ],
  [
    'a status that was recorded much later',
    {
      recorded: {
        history: {
          ...history,
          statuses: history.statuses.map((each) => ({ ...each, at: '2026-01-02T03:09:55.000Z' })),
        },
      },
    },
    ['outcome: status-not-recorded'],
  ],
  [
    'a rollout that failed, of a deploy that succeeded',
    { claimed: { rollout: { result: 'failed', statuses: [{ status: 'BUILDING', at: '2026-01-02T03:04:51.000Z' }] } } },
    ['outcome: contradicts-rollout'],
  ],
  [
    'a failed revision, where there is no history',
    {
      claimed: { rollout: null },
      recorded: { revision: { ...revision, status: 'BUILD_FAILED' }, history: undefined },
    },
    ['outcome: status-not-recorded'],
  ],
  [
    'an outcome that its verdict contradicts',
    { claimed: { verdict: { ...predicate.verdict, result: 'failed' } } },
    ['outcome: contradicts-verdict', 'verdict: verdict-differs'],
  ],
  [
    'a discarded revision that was promoted',
    {
      claimed: { outcome: 'discarded', passes: false },
      recorded: { revision: { ...revision, hold: { address: '', ends_at: null, decision: 'promoted' } } },
    },
    ['outcome: decision-not-recorded'],
  ],
  [
    'an edited verdict',
    { recorded: { verdicts: [{ ...storedVerdict, kind: 'failed' }] } },
    ['verdict: verdict-differs'],
  ],
  ['an edited number of attempts', { claimed: withTest({ attempts: 3 }) }, ['verdict: verdict-differs']],
  ['an edited time of a test', { claimed: withTest({ total_ms: 1 }) }, ['verdict: verdict-differs']],
  ['another test', { claimed: withTest({ name: 'says nothing' }) }, ['verdict: verdict-differs']],
  [
    'the run of another workflow',
    { recorded: { verdicts: [{ ...storedVerdict, details_url: `${runUrl}0` }] } },
    ['by: differs'],
  ],
  ['a time in the future', { claimed: { ended_at: '2026-01-03T00:06:00.000Z' } }, ['times: in-future']],
  [
    'a status in the future',
    { claimed: { rollout: { result: 'live', statuses: [{ status: 'DEPLOYED', at: '2030-01-01T00:00:00.000Z' }] } } },
    ['times: in-future'],
  ],
  ['an end before the beginning', { claimed: { ended_at: '2026-01-02T03:04:04.000Z' } }, ['times: times-reversed']],
  [
    'an end before its revision was made',
    { claimed: { started_at: '2026-01-01T00:00:00.000Z', ended_at: '2026-01-01T00:01:00.000Z' } },
    ['times: before-revision'],
  ],
  ['no revision', { claimed: { revision: null } }, ['outcome: no-revision']],
  ['a success of an outcome that fails', { claimed: { outcome: 'failed' } }, ['outcome: contradicts-passes']],
  ['a failure of an outcome that passes', { claimed: { passes: false } }, ['outcome: contradicts-passes']],
  [
    'a masked commit',
    { claimed: { revision: { id: 'r2', build_digest: null, commit: '***', source_digest: null, image: null } } },
    ['commit: differs'],
  ],
  [
    'a rollback that made no revision',
    { claimed: { rollback: { to_revision_id: 'r1', revision_id: null, done: true } } },
    ['rollback: no-revision'],
  ],
  ['more expectations', { claimed: withTest({ expectations: 100, held: 100 }) }, ['verdict: verdict-differs']],
  ['fewer expectations that held', { claimed: withTest({ held: 0 }) }, ['verdict: verdict-differs']],
  ['a masked name of a test', { claimed: withTest({ name: '***' }) }, ['verdict: verdict-differs']],
  [
    'a verdict of its run that was left out',
    {
      claimed: { verdict: { result: 'none', verified: null, tests: [] } },
      recorded: { verdicts: [{ ...storedVerdict, kind: 'failed' }] },
    },
    ['verdict: verdict-differs'],
  ],
  [
    'a rollback to another revision',
    {
      claimed: { rollback: rolledBack },
      recorded: { rollback: { ...history, cause: { ...history.cause, kind: 'rollback', redeploy_of: 'r0' } } },
    },
    ['rollback: rollback-differs'],
  ],
  [
    'a deletion of what is still there',
    { claimed: { operation: 'delete', outcome: 'deleted' } },
    ['outcome: still-there'],
  ],
])('does not hold: %s', (_, changed, expected) => {
  expect(findings(changed)).toEqual(expected);
});

test.each<[string, Changed, string[]]>([
  ['what was masked as a secret', { claimed: { deployment: { id: 'd1', name: 'a***' } } }, ['deployment: masked']],
  [
    'a commit that is not reported',
    { recorded: { revision: { ...revision, source_revision_config: {} } } },
    ['commit: unreported'],
  ],
  ['a plan without a history', { recorded: { history: undefined } }, ['outcome: no-history', 'plan: plan-unrecorded']],
  [
    'a plan beside changes of others',
    { recorded: { history: { ...history, changed_fields: ['secrets.OTHER'] } } },
    ['plan: plan-other'],
  ],
  [
    'a run that requested nothing',
    { claimed: { outcome: 'refused', passes: false, rollout: null, changed: false } },
    ['outcome: nothing-recorded'],
  ],
  [
    'an address of its run that the service masked',
    { recorded: { verdicts: [{ ...storedVerdict, details_url: runUrl.replace('acme', '***') }] } },
    ['by: masked'],
  ],
  [
    'an address of its run that was masked',
    {
      claimed: {
        by: { program: 'action', workflow: workflow && { ...workflow, run_url: runUrl.replace('acme', '***') } },
      },
    },
    ['by: masked'],
  ],
  ['a verdict that was never reported', { recorded: { verdicts: [] } }, ['verdict: no-verdicts', 'by: unsigned']],
  [
    'a verdict where newer ones are kept',
    { recorded: { verdicts: Array.from({ length: 20 }, () => ({ ...storedVerdict, kind: 'unproven' })) } },
    ['verdict: verdicts-pruned', 'by: unsigned'],
  ],
  ['a rollback without a history', { claimed: { rollback: rolledBack } }, ['rollback: no-history']],
])("can't be checked: %s", (_, changed, expected) => {
  expect(findings(changed, 'unknown')).toEqual(expected);
  expect(findings(changed)).toEqual([]);
});

test('nothing of another service is taken for a proof', () => {
  const claimed = { service: { address: 'https://other', tenant_id: 'tenant' } };
  const claims = checkReceipt({ ...checkedOf({ claimed }), records: {} });
  expect(claims.filter(({ result }) => result === 'holds').map(({ claim }) => claim)).toEqual(['subject', 'times']);
});

test.each<[string, Changed, string]>([
  ['it serves', {}, 'live'],
  ['another one serves', { recorded: { deployment: { ...deployment, active_revision_id: 'r9' } } }, 'replaced'],
  ['none serves', { recorded: { deployment: { ...deployment, active_revision_id: null } } }, 'nothing-live'],
  ['the deployment is gone', { recorded: { deployment: null } }, 'gone'],
  [
    'the one of its rollback serves',
    { claimed: { rollback: rolledBack }, recorded: { deployment: { ...deployment, active_revision_id: 'r3' } } },
    'live',
  ],
])('says whether %s now', (_, changed, expected) => {
  expect(servingNow(checkedOf(changed)).code).toBe(expected);
});

test('a masked name of the service matches that of the receipt', () => {
  const [stored] = storedVerdict.tests;
  const tests = stored ? [{ ...stored, name: 'says ***' }] : [];
  expect(findings({ recorded: { verdicts: [{ ...storedVerdict, tests }] } })).toEqual([]);
});

describe('a deletion', () => {
  const deleted = { operation: 'delete', outcome: 'deleted' } as const;

  test('holds where the service recorded it', () => {
    const recorded = { deployment: null, deletedAt: '2026-01-02T03:05:00.000Z' };
    expect(findings({ claimed: deleted, recorded })).toEqual([]);
    expect(findings({ claimed: deleted, recorded }, 'unknown')).toEqual([]);
  });

  test("can't be checked where the service has no such deployment and no record of it", () => {
    expect(findings({ claimed: deleted, recorded: { deployment: null } }, 'unknown')).toContain('outcome: gone');
  });
});
