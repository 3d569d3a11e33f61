import type { Verify } from '../file/desired.ts';
import type { LogEntry } from '../../contract/control/log.ts';
import type { ReportedPlan } from '../words/plan.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { OutcomeKind } from '../../contract/outcome-kinds.ts';
import type { ErrorFacts } from '../../contract/service-error.ts';
import type { RemovalCode } from '../rules/preview.ts';
import type { RollbackObstacle } from '../rules/trigger-types.ts';
import type { Verdict } from '../rules/verdict-types.ts';

/** The result of a rollback that was requested or that a failure caused. */
export type Rollback =
  | { kind: 'done'; toRevisionId: string; rollout: Rollout; verdict: Verdict }
  | { kind: 'failed'; toRevisionId: string; reason: RollbackFailure; rollout?: Rollout; verdict?: Verdict }
  | { kind: 'impossible'; reason: NotRestored };

/** Why nothing is restored. */
export type NotRestored =
  | RollbackObstacle
  /** This run made no revision, or there is none to go back to or from. */
  | { code: 'none-made' | 'none-before' | 'nothing-live' | 'revisions-unlisted' }
  | { code: 'none-live-before'; active: string }
  /** The service deploys no old revision again, and no field selects one commit. */
  | { code: 'not-selectable'; revisionId: string }
  /** The live revision is of the same image or folder; `isHidden`: its secrets were changed, and the service hides them. */
  | { code: 'same-source'; revisionId: string; source: 'image' | 'folder'; isHidden: boolean };

/** Why going back failed, or did not help. */
export type RollbackFailure =
  /** `text` is the service's, without secrets; `isUnknown`: the request may have taken effect. */
  | ({ code: 'service-error'; text: string; isUnknown: boolean } & ErrorFacts)
  | { code: 'none-made' | 'not-live' | 'also-wrong' };

/** What a revision was built from; of a deployment that was deleted, its newest revision. */
export interface BuiltFrom {
  revisionId: string;
  /** `sha256:` and the digest of every file that was built. */
  buildDigest?: string | undefined;
  commit?: string | undefined;
  /** `sha256:` and the digest of the uploaded folder. */
  sourceDigest?: string | undefined;
  image?: string | undefined;
}

/** Why a preview was removed; `renamed`: it has another name now. */
export type PreviewEnd = RemovalCode | 'renamed';

/** A preview that was removed. */
export interface RemovedPreview {
  name: string;
  pullRequest: number;
  /** Absent: the service hides it. */
  entry?: string | undefined;
  code: PreviewEnd;
}

/** What a run did about the preview of a pull request. */
export interface PreviewReport {
  /** Absent: the run only swept. */
  pullRequest?: number;
  /** The deployment of the file; absent: all of the pull request were removed. */
  entry?: string;
  /** What it waits for. */
  waits?: 'approval' | 'command';
  /** When it is removed (ISO 8601), unless it changes before. */
  expiresAt?: string;
  /** Of this pull request and of others. */
  removed: readonly RemovedPreview[];
}

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
  /** The tenant of the deployment. */
  tenantId?: string;
  /** What the revision was built from, as the service reports it. */
  builtFrom?: BuiltFrom;
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
  /** The command of a comment that the run carried out; `code`: what it did, or why nothing. */
  command?: { name?: string; code: string };
  /** What became of the previews of a repository. */
  preview?: PreviewReport;
  /** The last build and deploy log lines of a revision that failed: untrusted text. */
  logs?: readonly LogEntry[];
  notes: readonly string[];
}
