import type { ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { WorkNotifier } from '../listeners/work-notifier.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { Actor } from '../store/audit.ts';
import type { Registry } from '../registry/registry.ts';
import type { Hosting } from '../deployments/validation/value-problems.ts';
import type { ChangeNotifier } from '../logs/change-notifier.ts';
import type { ControlStore } from '../store/store.ts';
import type { AgentTokens } from '../compute/agent-tokens.ts';
import type { Tracing } from '../tracing-projects/tracing.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** The notifications that the service sends to the rollouts. */
export interface RolloutNotifier {
  /** The deployment has a revision to carry out, or one less, or one of its holds was decided. Returns at once. */
  wake(deploymentId: string): void;
  /** The revision was interrupted: cancels work on it. Returns at once. */
  interrupted(deploymentId: string, revisionId: string): void;
}

/** The dependencies of the control service, for one tenant. */
export interface ServiceDependencies {
  store: ControlStore;
  rollouts: RolloutNotifier;
  /** Notified when there may be work for a listener; without it waiting requests poll once a second. */
  notifier?: WorkNotifier;
  /** Notified when a log may have new lines; without it followers poll every 15 s. */
  logNotifier?: ChangeNotifier;
  /** Measures the silence of a followed log; the machine's own time when absent. */
  clock?: Clock;
  tenantId: string;
  /** The caller, for the audit log; the service itself when absent. */
  by?: Actor | undefined;
  /** What the caller may do; everything when absent. */
  scopes?: readonly ApiKeyScope[] | undefined;
  /** The service's public address, without a trailing slash: the prefix of agents' addresses. */
  baseUrl: () => string;
  /** Whether builds run so that their revisions can be held before traffic; not when absent. */
  holds?: boolean | undefined;
  /** The folders that `repo_url` may name one below of: absolute paths. */
  allowGit: readonly string[];
  /** The kind of hosting that the service reports, which decides the allowed sources; `any` when absent. */
  hosting?: Hosting | undefined;
  /** Whether `graph_config_path` may be named with the first upload, as public clients do; `false` when absent. */
  graphConfigLater?: boolean | undefined;
  /** The most previews of pull requests of one tenant; any number when absent. */
  maxPreviews?: number | undefined;
  /** Reads integrations from GitHub; without it the stored ones are returned. */
  integrations?: Integrations | undefined;
  /** Issues the tokens with which agents report runs; without it the agents of listeners report none. */
  tracing?: Tracing | undefined;
  /** Knows the tokens of agents, to be masked in what is reported about them. */
  agentTokens?: Pick<AgentTokens, 'of'> | undefined;
  /** Receives source tarballs; without it there are no upload addresses. */
  uploads?: Uploads | undefined;
  /** Reads which packages of Python a build installed, by its name; without it none are reported. */
  pythonPackages?: ((build: string) => string | undefined) | undefined;
  /** The issuers whose tokens trust policies may accept; none when absent. */
  oidcIssuers?: readonly string[] | undefined;
  /** The image registry that push tokens are for. */
  registry?: Registry | undefined;
}
