import type { ResourceSpec } from '../../contract/control/resource-spec.ts';
import type { Secret, SecretReference } from '../../contract/control/secret.ts';
import type { DeploymentType } from '../../contract/control/source.ts';
import type { ProcessUser } from './leashed-process.ts';
import type { WriteLine } from './log-line.ts';

/** What an agent is made of: a build that lies on this machine, or a container image. */
export type AgentProgram =
  | {
      kind: 'build';
      /** What was built, for a person: `commit 1234...`. */
      madeOf: string;
      /** The root of the build's folder. */
      folder: string;
      /** Absolute path of the graph configuration file in it. */
      graphConfigFile: string;
      /** A folder of the revision's own, for the agent's home. */
      homeFolder: string;
    }
  | { kind: 'image'; imageUri: string };

/** Where the runs of a deployment's agent are told to: the deployment's tracing project. */
export interface TracingTarget {
  /** The address that runs are posted to. */
  url: string;
  /** What has to be sent as a bearer token: a secret, good for this one project. */
  token: string;
}

/** What it takes to run one revision of a deployment. */
export interface AgentSpec {
  deploymentId: string;
  revisionId: string;
  /** The deployment's name, a DNS label. */
  name: string;
  program: AgentProgram;
  /** Address of the database that all revisions of the deployment share: a secret. */
  databaseUrl: string;
  /** Variables of the agent's environment (control-service.md, Secret). What the platform sets itself comes first. */
  secrets: readonly Secret[];
  /** Variables that are taken from a cluster's secrets (control-service.md, SecretReference). */
  secretReferences: readonly SecretReference[];
  resourceSpec: ResourceSpec | undefined;
  deploymentType: DeploymentType | undefined;
  /** The namespace in a cluster, where one was asked for. */
  namespace: string | undefined;
  tracing: TracingTarget | undefined;
  /** The user of this machine that the deployment's processes run as; absent where they run as this service's own. */
  user?: ProcessUser | undefined;
  /** Takes what the agent writes, masked. */
  log: WriteLine;
}

/** An agent that answers. */
export interface RunningAgent {
  /** Where it listens: `http://<host>:<port>`, or `unix:<path>`. */
  origin: string;
  /** What every request to it has to carry in `x-landfall-agent-token`. */
  token: string;
  /**
   * Lets it finish what it is at and ends it, after `withinMs` by force; the compute's own bound when absent. Of several
   * calls the shortest bound counts; all wait for the end.
   */
  stop(withinMs?: number): Promise<void>;
  /** Whether a `stop` left it loaded, to be woken where it is needed again. Absent: it ends each time. */
  isIdle?: () => boolean;
  /** Resolves with words for a person, without a full stop, when it has ended, asked or not. */
  exited: Promise<string>;
  /** The last lines that it wrote, masked; none where this compute does not see them. */
  said?: () => readonly string[];
  /**
   * In the place of `stop`: lets it finish what it is at and keeps it loaded. Undefined where it has ended instead. Absent
   * where this compute can't.
   */
  rest?: () => Promise<IdleAgent | undefined>;
}

/** An agent that finished what it was at and serves nobody, with its program loaded. */
export interface IdleAgent {
  /** Has it serve again as the revision of `spec`, whose program and environment have to be its own. */
  wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart>;
  stop(): Promise<void>;
  /** Resolves when it has ended, asked or not. */
  exited: Promise<string>;
}

/** How a start ends: with an agent that answered when asked for its health, or with the reason why there is none. */
export type AgentStart =
  | { kind: 'running'; agent: RunningAgent }
  | {
      kind: 'failed';
      reason: string;
      /** The last lines that it wrote, masked. */
      said?: readonly string[];
    };

/**
 * The reason of a start's signal where somebody else may have the work by now: nothing is to be touched any more, and what
 * was begun stays as it stands. By every other reason what was begun is ended.
 */
export class LetGo extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'LetGo';
  }
}

/** Work that is somebody's for a time only: when it is over, somebody else may be at it. */
export interface Hold {
  /** Aborts with a `LetGo` when it is over. Then what was begun is not undone either. */
  lost: AbortSignal;
  /** @throws LetGo where its time is over by the clock, also where this process stood still and nobody aborted `lost`. */
  check: () => void;
}

/** Something that can run agents: processes of this machine, containers, or a cluster. */
export interface Compute {
  /**
   * Starts an agent. When `signal` aborts first, what was begun is ended and the start has failed. `hold` bounds that too:
   * a compute whose agents are others' as well touches nothing any more when it is over.
   */
  start(spec: AgentSpec, signal: AbortSignal, hold?: Hold): Promise<AgentStart>;
  /**
   * Removes whatever a deployment still has here once it is deleted and its agents are stopped; what is gone already is no
   * error. Absent where stopping leaves nothing.
   */
  remove?(deployment: { id: string; name: string; namespace: string | undefined }, hold?: Hold): Promise<void>;
}
