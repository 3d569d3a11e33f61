import { describe, expect, test } from 'vitest';
import { maxReceiptList, maxReceiptText, receipt as receiptShape } from '../../../src/contract/receipt.ts';
import { maskOf } from '../../../src/contract/masking/mask.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import type { NamedVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { receiptOf, receiptText, statementOf, type ReceiptFacts } from '../../../src/deploy/words/receipt.ts';

const [deploymentId, revisionId] = ['4b0dfa7e-0000-4000-8000-000000000001', '4b0dfa7e-0000-4000-8000-000000000002'];
const commit = 'a'.repeat(40);
const digest = 'b'.repeat(64);

const facts: ReceiptFacts = {
  mode: 'deploy',
  service: 'https://host/api-host',
  program: 'action',
  workflow: {
    repository: 'acme/agents',
    workflow: 'acme/agents/.github/workflows/deploy.yml@refs/heads/main',
    event: 'push',
    actor: 'ada',
    commit,
    run_id: '7',
    run_attempt: 1,
    run_url: 'https://github.com/acme/agents/actions/runs/7',
  },
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  endedAt: Date.UTC(2026, 0, 2, 3, 5, 5),
  version: '0.1.0',
  mask: (text) => text,
};

const passed: NamedVerdict = {
  name: 'says hello',
  attempts: 1,
  verdict: {
    kind: 'passed',
    held: [{ expectation: { kind: 'goes-on' }, held: true, expected: 'the secret prompt', seen: 'a private answer' }],
    firstEventMs: 12,
    totalMs: 30.5,
  },
};

const deployed: Outcome = {
  kind: 'deployed',
  reason: 'Revision is live.',
  passes: true,
  deploymentId,
  deploymentName: 'support',
  revisionId,
  tenantId: 'tenant',
  builtFrom: { revisionId, commit },
  plan: {
    kind: 'patch',
    makesRevision: true,
    changes: [{ field: 'secrets.MODEL_KEY', from: 'set', to: 'set', makesRevision: true, why: 'differs' }],
  },
  changed: true,
  rollout: { kind: 'live', revisionId, seen: [{ status: 'DEPLOYED', at: facts.endedAt }] },
  verdict: { kind: 'passed', tests: [passed] },
  verified: 'before-traffic',
  notes: [],
};

const made = (outcome: Partial<Outcome> = {}, more: Partial<ReceiptFacts> = {}) =>
  receiptOf({ ...deployed, ...outcome }, { ...facts, ...more });

describe('a receipt', () => {
  test('holds to its schema, and says what was deployed', () => {
    const receipt = receiptShape.parse(made());
    expect(receipt.subject).toEqual([{ name: 'support', digest: { gitCommit: commit } }]);
    expect(receipt.predicate).toMatchObject({
      operation: 'deploy',
      outcome: 'deployed',
      service: { address: 'https://host/api-host', tenant_id: 'tenant' },
      revision: { id: revisionId, build_digest: null, commit, source_digest: null, image: null },
      plan: { kind: 'patch', fields: [{ field: 'secrets.MODEL_KEY', makes_revision: true }] },
      rollout: { result: 'live', statuses: [{ status: 'DEPLOYED', at: '2026-01-02T03:05:05.000Z' }] },
      by: { program: 'action', workflow: { actor: 'ada' } },
      started_at: '2026-01-02T03:04:05.000Z',
    });
  });

  test('has counts, codes and times of its tests, and no text of a request or an answer', () => {
    const receipt = made({
      verdict: {
        kind: 'unproven',
        tests: [
          passed,
          { name: 'is quick', attempts: 3, verdict: { kind: 'unproven', because: 'hangs', why: 'a private reason' } },
        ],
      },
    });
    expect(receipt?.predicate.verdict).toEqual({
      result: 'unproven',
      verified: 'before-traffic',
      tests: [
        {
          name: 'says hello',
          verdict: 'passed',
          attempts: 1,
          because: null,
          expectations: 1,
          held: 1,
          first_event_ms: 12,
          total_ms: 30.5,
          answers: null,
          right_answers: null,
          comparison: [],
        },
        {
          name: 'is quick',
          verdict: 'unproven',
          attempts: 3,
          because: 'hangs',
          expectations: 0,
          held: 0,
          first_event_ms: null,
          total_ms: null,
          answers: null,
          right_answers: null,
          comparison: [],
        },
      ],
    });
    expect(JSON.stringify(receipt)).not.toMatch(/private|secret prompt/);
  });

  test.each([
    ['its build', { buildDigest: `sha256:${digest}`, sourceDigest: `sha256:${'c'.repeat(64)}` }, { sha256: digest }],
    ['its folder', { sourceDigest: `sha256:${digest}`, commit }, { sha256: digest }],
    ['its image', { image: `registry/agent@sha256:${digest}` }, { sha256: digest }],
    ['its commit', { image: 'registry/agent:1', commit }, { gitCommit: commit }],
  ])('has the digest of %s', (_, from, expected) => {
    expect(made({ builtFrom: { revisionId, ...from } })?.subject[0]?.digest).toEqual(expected);
  });

  test.each([
    ['a tag', { image: 'registry/agent:1' }],
    ['nothing that is known', {}],
  ])('has the digest of its predicate where it is built from %s', (_, from) => {
    const receipt = made({ builtFrom: { revisionId, ...from } });
    expect(receipt?.subject[0]?.digest['sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(receipt && statementOf(receipt.predicate)).toEqual(receipt);
  });

  test('of a rollback has the revision that it made, and the verdict on it', () => {
    const rollout = { kind: 'live', revisionId: 'made', seen: [] } as const;
    const rollback = { kind: 'done', toRevisionId: 'former', rollout, verdict: { kind: 'passed', tests: [] } } as const;
    const { rollout: _, verdict: __, ...rest } = deployed;
    const receipt = receiptOf({ ...rest, kind: 'rolled-back', rollback }, { ...facts, mode: 'rollback' });
    expect(receipt?.predicate).toMatchObject({
      operation: 'rollback',
      rollback: { to_revision_id: 'former', revision_id: 'made', done: true },
      rollout: { result: 'live' },
      verdict: { result: 'passed' },
    });
  });

  test.each([
    ['a plan', { kind: 'planned' }, {}],
    ['a run of tests', {}, { mode: 'smoke' }],
    ['a deployment that was not found', { deploymentId: undefined }, {}],
  ] as const)('is not made of %s', (_, outcome, more) => {
    const { deploymentId: id, ...rest } = { ...deployed, ...outcome };
    expect(receiptOf({ ...rest, ...(id === undefined ? {} : { deploymentId: id }) }, { ...facts, ...more })).toBe(
      undefined,
    );
  });

  test('masks secrets, and holds to its schema with hostile and with long texts', () => {
    const hostile = `\u001b]0;title\u0007${'x'.repeat(700)} s3cret-value`;
    const tests = Array.from({ length: 150 }, () => ({ ...passed, name: `s3cret-value ${hostile}` }));
    const receipt = made(
      { deploymentName: hostile, verdict: { kind: 'passed', tests } },
      { mask: maskOf(['s3cret-value']) },
    );
    const parsed = receiptShape.parse(receipt);
    expect(parsed.predicate.deployment.name?.length).toBeLessThanOrEqual(maxReceiptText);
    expect(parsed.predicate.verdict.tests).toHaveLength(maxReceiptList);
    expect(JSON.stringify(receipt)).not.toMatch(/s3cret|\\u001b|\\u0007/);
  });

  test('does not mask ids and the address of the service', () => {
    const mask = maskOf(['api-host', deploymentId.slice(0, 8), 'tenant']);
    const receipt = receiptShape.parse(made({}, { mask }));
    expect(receipt.predicate).toMatchObject({
      service: { address: 'https://host/api-host', tenant_id: 'tenant' },
      deployment: { id: deploymentId },
      revision: { id: revisionId },
    });
  });

  test('is one text, whatever the order of its keys is', () => {
    const receipt = made();
    const reversed: unknown = receipt && Object.fromEntries(Object.entries(receipt).toReversed());
    expect(receiptText(receiptShape.parse(reversed))).toBe(receipt && receiptText(receipt));
  });
});
