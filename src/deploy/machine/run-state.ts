import type { Deployment } from '../../contract/control/deployment.ts';
import type { LogEntry } from '../../contract/control/log.ts';
import type { RequestedCommit } from '../rules/commit.ts';
import type { Note } from '../rules/note.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { Verification } from '../rules/verification.ts';
import type { Sample } from '../rules/verdict-types.ts';
import type { RecordedConversations } from '../smoke/conversations.ts';
import type { Rollback } from './outcome-types.ts';
import type { LiveRevision } from './steps/read-deployment.ts';
import type { Prepared } from './deploy-state.ts';
import type { ReportedPlan } from '../words/plan.ts';
import type { ProductionAgent } from './live-agents.ts';

/** What is known so far: enough to conclude from, wherever the run ends. */
export interface RunState {
  deployment?: Deployment;
  plan?: ReportedPlan | undefined;
  commit?: RequestedCommit | undefined;
  /** The revision of the environment before whose build is deployed. */
  buildOf?: string | undefined;
  /** The revision that served before anything was written. */
  formerLive?: LiveRevision | undefined;
  /** What the deployment held then. */
  formerDeployment?: Deployment | undefined;
  /** What was sent. */
  sent?: Prepared;
  /** A write is in progress: until its response arrives, its effect is unknown. */
  writing: boolean;
  changed: boolean;
  rollout?: Rollout | undefined;
  /** When the revision is tested, once that was decided. */
  verification?: Verification;
  /** What the live revision `of` answered before the change, by the names of the tests; where no revision is held. */
  before?: { of: string; answers: ReadonlyMap<string, readonly Sample[]> };
  /** What the live revision reported of the newest conversations before anything was written. */
  conversations?: RecordedConversations | undefined;
  /** The live agent of the deployment that this is a preview of; null where there is none. */
  production?: ProductionAgent | null;
  /** What a rollback restores. */
  target?: LiveRevision;
  rollback?: Rollback | undefined;
  logs?: readonly LogEntry[];
  notes: readonly Note[];
}
