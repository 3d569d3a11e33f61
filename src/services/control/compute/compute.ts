import type { ResourceSpec } from '../../../contract/control/resource-spec.ts';
import type { Secret, SecretReference } from '../../../contract/control/secret.ts';
import type { DeploymentType } from '../../../contract/control/source.ts';
import type { ProcessUser } from './guarded-process.ts';
import type { WriteLine } from './log-line.ts';

export interface BuildProgram {
  kind: 'build';
  /** What was built, for a person: `commit 1234...`. */
  sourceText: string;
  folder: string;
  /** Absolute path of the graph configuration file in it. */
  graphConfigFile: string;
  /** A folder of the revision's own, for the agent's home. */
  homeFolder: string;
  /** The interpreter of its own environment; absent where none of its graphs is in Python. */
  python?: string | undefined;
  /** The folder of the packages that its environment shares with other builds; absent where it holds them itself. */
  pythonPackages?: string | undefined;
}

/** The program of an agent: a build on this machine, or a container image. */
export type AgentProgram = BuildProgram | { kind: 'image'; imageUri: string };

/** Where a deployment's agent reports its runs: the deployment's tracing project. */
export interface TracingTarget {
  url: string;
  token: string;
}

/** What is needed to run one revision of a deployment. */
export interface AgentSpec {
  deploymentId: string;
  revisionId: string;
  /** The deployment's name, a DNS label. */
  name: string;
  program: AgentProgram;
  /** Address of the database that all revisions of the deployment share: a secret. */
  databaseUrl: string;
  /** Variables of the agent's environment. The platform's own override them. */
  secrets: readonly Secret[];
  /** Variables that are taken from a cluster's secrets. */
  secretReferences: readonly SecretReference[];
  resourceSpec: ResourceSpec | undefined;
  deploymentType: DeploymentType | undefined;
  namespace: string | undefined;
  tracing: TracingTarget | undefined;
  /** The user of this machine that the deployment's processes run as; absent where they run as this service's own. */
  user?: ProcessUser | undefined;
  /** The latest end of its hold: it is started without a share in the deployment's work. Absent where it is not held. */
  holdUntil?: Date | undefined;
  log: WriteLine;
}

export interface RunningAgent {
  /** Its address: `http://<host>:<port>`, or `unix:<path>`. */
  origin: string;
  /** The value of `x-landfall-agent-token` in every request to it. */
  token: string;
  /** Drains and ends it, after `withinMs`, or the compute's own limit, by force. The shortest of several counts. */
  stop(withinMs?: number): Promise<void>;
  /** Whether a `stop` left it loaded, ready to restart. Absent: `stop` always ends it. */
  isIdle?: () => boolean;
  /** Resolves with the reason, for a person and without a full stop, when it has exited for any cause. */
  exited: Promise<string>;
  /** The last lines of its output, masked; none where this compute does not have them. */
  lastLines?: () => readonly string[];
  /** Ends its hold: it takes part in all work, or its unfinished runs end. False where it does not. */
  endHold?: (decision: 'promote' | 'discard') => Promise<boolean>;
  /** Instead of `stop`: drains it and keeps it loaded, where the compute can; undefined where it has ended instead. */
  makeIdle?: () => Promise<IdleAgent | undefined>;
}

/** A drained agent that receives no traffic, with its program loaded. */
export interface IdleAgent {
  /** Resumes it as the revision of `spec`, whose program and environment must be its own. */
  wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart>;
  stop(): Promise<void>;
  exited: Promise<string>;
}

/** The outcome of a start: a healthy agent, or the reason why there is none. */
export type AgentStart =
  | { kind: 'running'; agent: RunningAgent }
  /** `said`: the last lines of its output, masked. */
  | { kind: 'failed'; reason: string; lastLines?: readonly string[] };

/** The abort reason where another worker may own the work now: leave everything as it is. On any other reason, clean up. */
export class ClaimLost extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ClaimLost';
  }
}

/** A lease on work: once it expires, another worker may have taken over. */
export interface WorkLease {
  /** Aborts with a `ClaimLost` when the lease is lost. Then even the cleanup is left out. */
  lost: AbortSignal;
  /** @throws ClaimLost where the lease has expired by the clock, even if `lost` did not abort. */
  check: () => void;
}

/** Runs agents: as processes of this machine, as containers, or in a cluster. */
export interface Compute {
  /**
   * Starts an agent. When `signal` aborts first, the start fails and is cleaned up, unless the lease was lost: a compute
   * that is shared with other workers then touches nothing.
   */
  start(spec: AgentSpec, signal: AbortSignal, lease?: WorkLease): Promise<AgentStart>;
  /** Removes everything of a deleted deployment whose agents are stopped. Absent where stopping leaves nothing. */
  remove?(deployment: RemovedDeployment, lease?: WorkLease): Promise<void>;
}

export type RemovedDeployment = { id: string } & Pick<AgentSpec, 'name' | 'namespace'>;
