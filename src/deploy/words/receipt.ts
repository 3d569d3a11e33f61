import { createHash } from 'node:crypto';
import type { Receipt, ReceiptPredicate, ReceiptWorkflow } from '../../contract/receipt.ts';
import { canonicalJson } from '../../kit/json-object.ts';
import { cutText } from '../../kit/plain-text.ts';
import type { Outcome } from '../machine/outcome-types.ts';
import type { RunSubject } from '../file/desired.ts';
import type { NamedVerdict, Verdict } from '../rules/verdict-types.ts';
import { asLine } from './sanitize.ts';

/** What a receipt says besides the outcome. */
export interface ReceiptFacts {
  mode: RunSubject['mode'];
  /** The base address of the control service, without credentials. */
  service: string;
  program: ReceiptPredicate['by']['program'];
  workflow?: ReceiptWorkflow | undefined;
  /** ms since the epoch */
  startedAt: number;
  endedAt: number;
  version: string;
  /** Removes the secrets of the run from a text. */
  mask: (text: string) => string;
}

/** The bounds of `src/contract/receipt.ts`, which the bundle of the Action leaves out. */
const [longest, most] = [500, 100];
const [digestShape, commitShape] = [/^sha256:[0-9a-f]{64}$/, /^[0-9a-f]{40,64}$/];

/**
 * The receipt of a run that deployed, rolled back or deleted; undefined where no deployment was found, or nothing was
 * to be written.
 */
export function receiptOf(outcome: Outcome, facts: ReceiptFacts): Receipt | undefined {
  const { mode, service, program, workflow } = facts;
  const { deploymentId, deploymentName } = outcome;
  if (deploymentId === undefined || mode === 'plan' || mode === 'smoke' || outcome.kind === 'planned') return undefined;
  const text = (full: string): string => asLine(cutText(facts.mask(full), longest), longest);
  // An id and an address are no texts of others: what they name could not be found without them.
  const id = (full: string): string => asLine(full, longest);
  const optional = (full: string | undefined): string | null => (full === undefined || full === '' ? null : text(full));
  // What has another shape, by a mask or by the service, says nothing that could be checked.
  const shaped = (shape: RegExp, full: string | undefined): string | null =>
    full !== undefined && shape.test(facts.mask(full)) ? full : null;
  const { rollback, builtFrom } = outcome;
  const rollout = mode === 'rollback' ? rolloutOfRollback(outcome) : outcome.rollout;
  const verdict = mode === 'rollback' ? verdictOfRollback(outcome) : outcome.verdict;
  return statementOf({
    operation: mode,
    outcome: outcome.kind,
    passes: outcome.passes,
    changed: outcome.changed,
    service: { address: id(service), tenant_id: outcome.tenantId ? id(outcome.tenantId) : null },
    deployment: { id: id(deploymentId), name: optional(deploymentName) },
    revision: builtFrom
      ? {
          id: id(builtFrom.revisionId),
          build_digest: shaped(digestShape, builtFrom.buildDigest),
          commit: shaped(commitShape, builtFrom.commit),
          source_digest: shaped(digestShape, builtFrom.sourceDigest),
          image: optional(builtFrom.image),
        }
      : null,
    rollback:
      rollback && rollback.kind !== 'impossible'
        ? {
            to_revision_id: id(rollback.toRevisionId),
            revision_id: rollback.rollout ? id(rollback.rollout.revisionId) : null,
            done: rollback.kind === 'done',
          }
        : null,
    plan: outcome.plan
      ? {
          kind: outcome.plan.kind,
          fields: ('changes' in outcome.plan ? outcome.plan.changes : [])
            .slice(0, most)
            .map(({ field, makesRevision }) => ({ field: text(field), makes_revision: makesRevision })),
        }
      : null,
    rollout: rollout
      ? {
          result: rollout.kind,
          statuses: rollout.seen.slice(-most).map(({ status, at }) => ({ status: text(status), at: timeOf(at) })),
        }
      : null,
    verdict: verdictFields(verdict, outcome.verified, text),
    by: {
      program,
      workflow: workflow
        ? {
            repository: text(workflow.repository),
            workflow: optional(workflow.workflow ?? undefined),
            event: text(workflow.event),
            actor: text(workflow.actor),
            commit: text(workflow.commit),
            run_id: text(workflow.run_id),
            run_attempt: workflow.run_attempt,
            run_url: optional(workflow.run_url ?? undefined),
          }
        : null,
    },
    started_at: timeOf(facts.startedAt),
    ended_at: timeOf(facts.endedAt),
    landfall_version: facts.version,
  });
}

/** The statement about a predicate: its subject follows from it. */
export const statementOf = (predicate: ReceiptPredicate): Receipt => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: predicate.deployment.name ?? predicate.deployment.id, digest: subjectDigest(predicate) }],
  predicateType: 'urn:landfall:receipt:v1',
  predicate,
});

/** A receipt as it is written: equal receipts are equal texts. */
export const receiptText = (value: Receipt | ReceiptPredicate): string =>
  `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;

/** The digest of a text, in hexadecimal digits. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What identifies the build: its digest, that of its folder or its image, else its commit, else the predicate itself. */
function subjectDigest(predicate: ReceiptPredicate): Record<string, string> {
  const {
    build_digest: build = null,
    source_digest: source = null,
    image = null,
    commit = null,
  } = predicate.revision ?? {};
  const [, digest] = /(?:^|@)sha256:([0-9a-f]{64})$/.exec(build ?? source ?? image ?? '') ?? [];
  if (digest !== undefined) return { sha256: digest };
  if (commit !== null) return { gitCommit: commit };
  return { sha256: sha256(receiptText(predicate)) };
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

const rolloutOfRollback = ({ rollback }: Outcome) =>
  rollback && rollback.kind !== 'impossible' ? rollback.rollout : undefined;

const verdictOfRollback = ({ rollback }: Outcome) =>
  rollback && rollback.kind !== 'impossible' ? rollback.verdict : undefined;

function verdictFields(
  verdict: Verdict | undefined,
  verified: Outcome['verified'],
  text: (full: string) => string,
): ReceiptPredicate['verdict'] {
  const tests = (verdict?.tests ?? []).slice(0, most).map((test) => testFields(test, text));
  return { result: verdict?.kind ?? 'none', verified: verified ?? null, tests };
}

function testFields(
  { name, attempts, verdict }: NamedVerdict,
  text: (full: string) => string,
): ReceiptPredicate['verdict']['tests'][number] {
  const isProven = verdict.kind !== 'unproven';
  const held = isProven ? verdict.held : [];
  return {
    name: testName(text(name)),
    verdict: verdict.kind,
    attempts,
    because: isProven ? null : verdict.because,
    expectations: held.length,
    held: held.filter((each) => each.held).length,
    first_event_ms: (isProven ? verdict.firstEventMs : undefined) ?? null,
    total_ms: isProven ? verdict.totalMs : null,
    answers: verdict.rate?.answers ?? null,
    right_answers: verdict.rate?.right ?? null,
    comparison: (verdict.comparison?.measures ?? []).slice(0, most).map((each) => ({
      measure: each.measure,
      verdict: each.verdict,
      decides: each.decides,
      p_value: each.chance,
    })),
  };
}

/** The name of a smoke test as services keep it: they have the first characters of a long one. */
export const testName = (name: string): string => asLine(cutText(name, 200), 200);
