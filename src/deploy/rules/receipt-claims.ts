import type { ReceiptPredicate } from '../../contract/receipt.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import type { HistoryEntry } from '../../contract/control/revision-history.ts';
import type { StoredVerdict } from '../../contract/control/verdict.ts';
import type { Coded } from '../../kit/coded.ts';

/** What a receipt claims, in the order in which it is checked. */
export const claimNames = [
  'subject',
  'service',
  'times',
  'tenant',
  'deployment',
  'revision',
  'commit',
  'build_digest',
  'source_digest',
  'image',
  'outcome',
  'rollback',
  'verdict',
  'plan',
  'by',
] as const;
export type ClaimName = (typeof claimNames)[number];

/** Why a claim holds. */
export interface HoldsFacts extends Record<'subject-digest' | 'receipt-digest' | 'in-order', unknown> {
  'deletion-recorded': { at: string };
  same: { value: string };
  exists: { value: string };
  'status-recorded': { status: string };
  'decision-recorded': { decision: string };
  'rollback-recorded': { of: string };
  'verdict-recorded': { at: string };
  'plan-recorded': { fields: number };
  'run-recorded': { url: string };
}

/** Why a claim does not hold. */
export interface FailsFacts extends Record<
  'subject-differs' | 'times-reversed' | 'still-there' | 'no-revision' | 'contradicts-passes',
  unknown
> {
  differs: { claimed: string; recorded: string };
  absent: { what: 'deployment' | 'revision'; id: string };
  'in-future': { at: string };
  'before-revision': { at: string };
  'contradicts-verdict': { verdict: string };
  'contradicts-rollout': { rollout: string };
  'status-not-recorded': { status: string };
  'decision-not-recorded': { decision: string };
  'rollback-differs': { recorded: string };
  'verdict-differs': { recorded: readonly string[] };
}

/** Why a claim can't be checked. */
export interface UnknownFacts extends Record<
  | 'not-read'
  | 'unreported'
  | 'masked'
  | 'no-history'
  | 'gone'
  | 'nothing-recorded'
  | 'no-verdicts'
  | 'verdicts-pruned'
  | 'plan-unrecorded'
  | 'unsigned'
  | 'in-check',
  unknown
> {
  'plan-other': { fields: readonly string[] };
}

/** What was found of one claim. */
export type Finding =
  | ({ result: 'holds' } & Coded<HoldsFacts>)
  | ({ result: 'fails' } & Coded<FailsFacts>)
  | ({ result: 'unknown' } & Coded<UnknownFacts>);

export type Claim = { claim: ClaimName } & Finding;

/** What the service says of what a receipt names. Something absent was not read, `null`: the service has none. */
export interface ReceiptRecords {
  deployment?: Pick<Deployment, 'id' | 'name' | 'tenant_id' | 'active_revision_id'> | null;
  revision?: Revision | null;
  history?: HistoryEntry | undefined;
  verdicts?: readonly StoredVerdict[] | undefined;
  /** When the service recorded the deletion. */
  deletedAt?: string | undefined;
  /** Of the revision that a rollback made. */
  rollback?: HistoryEntry | undefined;
}

/** A predicate, and what it is checked against. */
export interface CheckedReceipt {
  predicate: ReceiptPredicate;
  /** Whether the subject is the one of this predicate, or the file of its receipt. */
  subject: 'predicate' | 'receipt' | 'other';
  /** The base address of the service that is asked. */
  service: string;
  records: ReceiptRecords;
  /** ms since the epoch */
  now: number;
  /** The name of a smoke test as a receipt has it. */
  testName: (name: string) => string;
}

/** Whether the revision serves now. */
export type ServingNow =
  | { code: 'live' }
  | { code: 'replaced'; by: string }
  | { code: 'nothing-live' }
  | { code: 'gone' }
  | { code: 'not-read' };

export function servingNow({ predicate, records: { deployment } }: CheckedReceipt): ServingNow {
  if (deployment === undefined) return { code: 'not-read' };
  if (deployment === null) return { code: 'gone' };
  const active = deployment.active_revision_id;
  if (!active) return { code: 'nothing-live' };
  const own = predicate.rollback?.done ? predicate.rollback.revision_id : predicate.revision?.id;
  return active === own ? { code: 'live' } : { code: 'replaced', by: active };
}
