import type { ResourceSpec } from '../../../contract/control/resource-spec.ts';
import type { Secret, SecretReference } from '../../../contract/control/secret.ts';
import type { DeploymentType } from '../../../contract/control/source.ts';
import type { ProcessUser } from './guarded-process.ts';
import type { WriteLine } from './log-line.ts';

export interface BuildProgram {
  kind: 'build';
  /** What was built, in words: `commit 1234...`. */
  sourceText: string;
  folder: string;
  /** Absolute path of the graph configuration file in it. */
  graphConfigFile: string;
  /** A folder of the revision's own, for the agent's home. */
  homeFolder: string;
  /** The interpreter of its own environment; absent where none of its graphs is in Python. */
  python?: string | undefined;
  /** The folder of Python packages that builds share; absent where this build's environment holds its own. */
  pythonPackages?: string | undefined;
}

/** The program of an agent: a build on this machine, or a container image. */
export type AgentProgram = BuildProgram | { kind: 'image'; imageUri: string };

/** The tracing project to which a deployment's agents report their runs. */
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
  /** Variables of the agent's environment. The variables that the service sets override them. */
  secrets: readonly Secret[];
  /** Variables that are taken from a cluster's secrets. */
  secretReferences: readonly SecretReference[];
  resourceSpec: ResourceSpec | undefined;
  deploymentType: DeploymentType | undefined;
  namespace: string | undefined;
  tracing: TracingTarget | undefined;
  /** The user of this machine that the deployment's processes run as; absent where they run as this service's own. */
  user?: ProcessUser | undefined;
  /** The latest end of its hold. A held agent starts without work of the deployment. Absent where it is not held. */
  holdUntil?: Date | undefined;
  log: WriteLine;
}

export interface RunningAgent {
  /** Its address: `http://<host>:<port>`, or `unix:<path>`. */
  origin: string;
  /** The value of `x-landfall-agent-token` in every request to it. */
  token: string;
  /** Drains it and stops it, by force after `withinMs` or the compute's own limit. Of several calls the shortest wins. */
  stop(withinMs?: number): Promise<void>;
  /** Whether `stop` has kept it loaded, to resume it later. Absent: `stop` always ends it. */
  isIdle?: () => boolean;
  /** Resolves when it has exited, with the reason as a phrase without a full stop. */
  exited: Promise<string>;
  /** The last lines of its output, masked. Absent where this compute does not have them. */
  lastLines?: () => readonly string[];
  /** Ends its hold: a promoted agent takes all work, a discarded one ends its runs. False where that fails. */
  endHold?: (decision: 'promote' | 'discard') => Promise<boolean>;
  /** Drains it and keeps it loaded, instead of `stop`. Undefined where it ended. Absent where this compute can't. */
  makeIdle?: () => Promise<IdleAgent | undefined>;
}

/** A drained agent that receives no traffic, with its program loaded. */
export interface IdleAgent {
  /** Resumes it as the revision of `spec`, whose program and environment must be its own. */
  wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart>;
  stop(): Promise<void>;
  exited: Promise<string>;
}

/** The outcome of a start: a healthy agent, or the reason for a failure. */
export type AgentStart =
  | { kind: 'running'; agent: RunningAgent }
  /** `lastLines`: of its output, masked. */
  | { kind: 'failed'; reason: string; lastLines?: readonly string[] };

/** The abort reason where another worker may own the work: leave everything as it is. For other reasons, clean up. */
export class ClaimLost extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ClaimLost';
  }
}

/** A lease on work: once it expires, another worker may have taken over. */
export interface WorkLease {
  /** Aborts with a `ClaimLost` when the lease is lost. Skip even the cleanup then. */
  lost: AbortSignal;
  /** @throws ClaimLost where the lease has expired by the clock, even if `lost` did not abort. */
  check: () => void;
}

/** Runs agents: as processes of this machine, as containers, or in a cluster. */
export interface Compute {
  /**
   * Starts an agent. If `signal` aborts first, the start fails and is cleaned up, unless the lease was lost: then a
   * compute that other workers share changes nothing.
   */
  start(spec: AgentSpec, signal: AbortSignal, lease?: WorkLease): Promise<AgentStart>;
  /** Removes what the stopped agents of a deleted deployment left. Absent where they leave nothing. */
  remove?(deployment: RemovedDeployment, lease?: WorkLease): Promise<void>;
}

export type RemovedDeployment = { id: string } & Pick<AgentSpec, 'name' | 'namespace'>;
