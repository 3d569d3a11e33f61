import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkOf } from '../../../app/reporting/intent-reports.ts';
import { intentOutcomeKinds, type Intent } from '../../../app/reconcile/intent.ts';
import { readReceipts } from '../../../src/cli/receipt-file.ts';
import type { ReceiptPredicate } from '../../../src/contract/receipt.ts';
import type { Rollout } from '../../../src/deploy/rules/rollout-types.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { anEnded, anIntent, commit, morning, newer } from '../an-intent.ts';

const folder = mkdtempSync(join(tmpdir(), 'idle-receipts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const service = 'https://control.test';
function textOf(intent: Intent): string {
  const { wanted } = checkOf(intent, { now: morning + 90_000, service });
  return wanted.kind === 'check' ? (wanted.content.text ?? '') : '';
}

/** The predicate in the text of a check, as `landfall receipt verify` reads it. */
function receiptIn(text: string): ReceiptPredicate | undefined {
  const path = join(folder, 'check.md');
  writeFileSync(path, text.replaceAll('\n', '\r\n'));
  const read = readReceipts(path);
  return read.ok ? read.receipts[0]?.receipt.predicate : undefined;
}

const seen = [
  { status: 'BUILDING', at: morning + 10_000 },
  { status: 'DEPLOYED', at: morning + 50_000 },
];
const rollout: Rollout = { kind: 'live', revisionId: 'r2', seen };
const verdict: Verdict = {
  kind: 'passed',
  tests: [
    {
      name: 'says ``` hello',
      attempts: 1,
      verdict: { kind: 'passed', held: [], totalMs: 9, firstEventMs: 5 },
    },
  ],
};

test('a deploy that ended leaves its receipt in the check', () => {
  const text = textOf(anEnded({ kind: 'deployed' }, { rollout, verdict, verified: 'before-traffic', sends: 1 }));
  expect(receiptIn(text)).toMatchObject({
    operation: 'deploy',
    outcome: 'deployed',
    passes: true,
    changed: true,
    service: { address: service, tenant_id: null },
    deployment: { id: 'd1', name: 'echo' },
    revision: { id: 'r2', commit },
    rollout: { result: 'live', statuses: [{ status: 'BUILDING' }, { status: 'DEPLOYED' }] },
    verdict: { result: 'passed', verified: 'before-traffic', tests: [{ name: 'says ``` hello', held: 0 }] },
    by: { program: 'app', workflow: null },
    started_at: '2026-01-05T08:00:01.000Z',
    ended_at: '2026-01-05T08:01:00.000Z',
  });
});

test.each(intentOutcomeKinds)('the outcome %s has a receipt that can be read, or none', (kind) => {
  const text = textOf(anEnded({ kind }));
  const isOfNoDeploy = ['skipped', 'joined', 'absent'].includes(kind);
  expect([text.includes('Receipt'), receiptIn(text)?.outcome === undefined]).toEqual([!isOfNoDeploy, isOfNoDeploy]);
});

const redeploy = { kind: 'redeploy', revisionId: 'r0' } as const;
test.each<[what: string, intent: Intent, receipt: object | undefined]>([
  [
    'a rollback',
    anEnded({ kind: 'deployed' }, { sending: redeploy, rollout, verdict, sends: 1 }),
    {
      operation: 'rollback',
      outcome: 'rolled-back',
      passes: true,
      revision: { id: 'r2', commit: null },
      rollback: { to_revision_id: 'r0', done: true },
      verdict: { result: 'passed' },
    },
  ],
  [
    'a rollback that failed',
    anEnded({ kind: 'failed' }, { sending: redeploy, sends: 1 }),
    { operation: 'rollback', outcome: 'failed', passes: false, rollback: { to_revision_id: 'r0', done: false } },
  ],
  [
    'another commit than the pushed one',
    anEnded({ kind: 'other-commit', by: { commit: newer, contains: true } }),
    { outcome: 'superseded', revision: { commit: newer } },
  ],
  ['a refusal of the request', anEnded({ kind: 'refused' }, { sends: 1 }), { outcome: 'refused', passes: false }],
  ['tests of what is live', anEnded({ kind: 'deployed' }, { sending: { kind: 'test', revisionId: 'r2' } }), undefined],
  ['a deploy on its way', anIntent('following', { rollout }), undefined],
])('%s', (_, intent, expected) => {
  const receipt = receiptIn(textOf(intent));
  expect(receipt === undefined).toBe(expected === undefined);
  expect(receipt ?? {}).toMatchObject(expected ?? {});
});

test('a receipt that does not fit is left out whole', () => {
  const logs = Array.from({ length: 900 }, (_, at) => ({
    id: `${at}`,
    timestamp: '',
    level: 'info',
    message: 'x'.repeat(200),
  }));
  const text = textOf(anEnded({ kind: 'failed', logs }, { sends: 1 }));
  expect([Buffer.byteLength(text) <= 65_535, text.includes('<summary>Receipt')]).toEqual([true, false]);
});
