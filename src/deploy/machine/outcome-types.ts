import type { Verify } from '../file/desired.ts';
import type { LogEntry } from '../../contract/control/log.ts';
import type { ReportedPlan } from '../words/plan.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { Verdict } from '../rules/verdict-types.ts';

/** How a run can end; these are the values of the Action's `outcome` output. */
export const outcomeKinds = [
  'deployed',
  'unchanged',
  'planned',
  'started',
  'rolled-back',
  'discarded',
  'deleted',
  'superseded',
  'failed',
  'broken',
  'unproven',
  'interrupted',
  'timed-out',
  'refused',
  'neutral',
] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

/** The result of a rollback that was requested or that a failure caused. */
export type Rollback =
  | { kind: 'done'; toRevisionId: string; rollout: Rollout; verdict: Verdict }
  | {
      kind: 'failed';
      toRevisionId: string | undefined;
      why: string;
      advice: string;
      rollout?: Rollout;
      verdict?: Verdict;
    }
  | { kind: 'impossible'; why: string; advice: string };

/** The end of a run as a value, for the reports. It never holds a secret. */
export interface Outcome {
  kind: OutcomeKind;
  /** One sentence: what happened. */
  reason: string;
  /** One sentence: what to do about it; absent where nothing is to be done. */
  advice?: string;
  /** Whether the step, the command or the check passes. */
  passes: boolean;
  deploymentName?: string;
  deploymentId?: string;
  /** The revision that was followed. */
  revisionId?: string;
  activeRevisionId?: string;
  /** The repository that it is built from. */
  repoUrl?: string;
  /** Where the agent answers. */
  deploymentUrl?: string;
  /** The page of the revision in the service's console. */
  consolePage?: string;
  plan?: ReportedPlan;
  /** True where something was written that the plan named. */
  changed: boolean;
  rollout?: Rollout;
  verdict?: Verdict;
  /** When the verdict was found: before the revision got traffic, or once it was live. */
  verified?: Verify;
  rollback?: Rollback | undefined;
  /** The last build and deploy log lines of a revision that failed: untrusted text. */
  logs?: readonly LogEntry[];
  notes: readonly string[];
}
