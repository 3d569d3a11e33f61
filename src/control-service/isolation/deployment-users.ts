import type { ProcessUser } from '../compute/guarded-process.ts';
import type { ControlStore } from '../store/store.ts';
import type { IdRange } from './id-range.ts';
import { killProcessesOf } from './kill-processes.ts';

/** The users that run deployments' builds and agents. */
export interface DeploymentUsers {
  /** A deployment's own user, permanently. Its group has the same number. */
  userOf: (deployment: { id: string }) => Promise<ProcessUser>;
  /** Kills all processes of a deployment. */
  sweep: (deploymentId: string) => Promise<void>;
  /** Kills all processes of all deployments, which a killed service left. */
  sweepAll: () => Promise<void>;
}

/** Creates the users, with ids from the range. */
export function deploymentUsers(
  store: Pick<ControlStore, 'agentUser' | 'agentUids'>,
  range: IdRange,
  log: (message: string) => void,
): DeploymentUsers {
  const numberOf = (id: string): Promise<number> => store.agentUser(id, range);
  return {
    async userOf({ id }) {
      const uid = await numberOf(id);
      return { uid, gid: uid };
    },
    async sweep(deploymentId) {
      await killProcessesOf(new Set([await numberOf(deploymentId)]));
    },
    async sweepAll() {
      const ended = await killProcessesOf(new Set(await store.agentUids()));
      if (ended > 0) log(`${ended} processes of agents and builds that an earlier service left behind were ended.`);
    },
  };
}
