import type { NamedVerdict, TestVerdict } from '../rules/verdict-types.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { ReportedPlan } from '../words/plan.ts';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { JournalEntry } from './journal.ts';
import type { Outcome, Rollback } from './outcome-types.ts';

/** Why a revision is followed. */
export type StartKind = 'created' | 'patched' | 'adopted' | 'redeployed';

/** Progress events for an entry point to print. No event holds a secret; `why` and messages are untrusted text. */
export type DeployEvent =
  /** An earlier run was interrupted in this state, which it kept at `at` (ms since the epoch). */
  | { kind: 'resumed'; at: number; state: JournalEntry['deploy']['state'] }
  | { kind: 'looking'; deployment: string }
  | {
      kind: 'looked';
      deploymentName: string | undefined;
      /** Absent where there is no such deployment yet. */
      deploymentId: string | undefined;
      activeRevisionId: string | undefined;
      latestRevisionId: string | undefined;
    }
  | { kind: 'noted'; note: string }
  | { kind: 'planned'; plan: ReportedPlan }
  /** A revision in progress does not report its commit yet: it is watched before anything is written. */
  | { kind: 'waiting-for-commit'; revisionId: string }
  | { kind: 'started'; how: StartKind; deploymentId: string; revisionId: string }
  | { kind: 'uploading'; files: number; size: number }
  /** One more attempt follows, at a new address. */
  | { kind: 'upload-failed'; why: string }
  | { kind: 'uploaded'; ms: number }
  | { kind: 'deleting'; deploymentId: string; deploymentName: string; withTracingProject: boolean }
  /** The state of the deployment while it is deleted; emitted on change, and periodically. */
  | { kind: 'leaving'; status: string; sinceMs: number; leftMs: number }
  /** The response to a write was lost: its effect is determined by observation. */
  | { kind: 'settling'; why: string }
  /** `sinceMs` is the time since the revision is followed. */
  | { kind: 'status'; revisionId: string; status: string; at: number; sinceMs: number; message?: string }
  | { kind: 'heartbeat'; revisionId: string; status: string; sinceMs: number; leftMs: number }
  | { kind: 'poll-failed'; why: string }
  | { kind: 'decision-failed'; why: string }
  | { kind: 'rolled-out'; rollout: Rollout }
  /** The revision answers at an address of its own, without traffic. */
  | { kind: 'held'; revisionId: string; endsAt: string }
  | { kind: 'hold-decided'; revisionId: string; decision: HoldDecision; why: string }
  /** Before the change is sent, for tests against the live revision. */
  | { kind: 'measuring-live'; revisionId: string; tests: number }
  | { kind: 'smoke-began'; address: string; tests: number }
  | { kind: 'smoke-attempt'; name: string; attempt: number; verdict: TestVerdict; again: boolean }
  | { kind: 'smoke-tested'; tested: NamedVerdict }
  | { kind: 'rolling-back'; toRevisionId: string; why: string }
  | { kind: 'rolled-back'; rollback: Rollback }
  | { kind: 'concluded'; outcome: Outcome };
