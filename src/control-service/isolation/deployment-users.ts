import type { Clock } from '../../clock.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { ControlStore } from '../store/store.ts';
import { killProcessesOf } from '../compute/process-family.ts';
import type { Logger } from '../../logger.ts';

/** User ids that belong to no one else: `first` and the `count - 1` after it. */
export interface IdRange {
  first: number;
  count: number;
}

/**
 * The ranges of user ids, the best first. Those of distributions (people, services, containers' users) end below the
 * first; a container with 65,536 ids has only the second.
 */
const candidates: readonly IdRange[] = [
  { first: 1_880_000_000, count: 200_000_000 },
  { first: 20_000, count: 40_000 },
];

/**
 * The range for deployments' users: one whose ids this process may use.
 *
 * @param maps the text of `/proc/self/uid_map` and of `gid_map`: lines of first number inside, outside, and count.
 * @returns undefined where there is none, as in a namespace of one user.
 */
export function agentIds(maps: readonly string[]): IdRange | undefined {
  return candidates.find(({ first, count }) =>
    maps.every((map) => spansOf(map).some((span) => span.first <= first && first + count <= span.first + span.count)),
  );
}

function spansOf(map: string): IdRange[] {
  return map.split('\n').flatMap((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first !== undefined && count !== undefined && Number.isSafeInteger(first + count) ? [{ first, count }] : [];
  });
}

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
  clock: Clock,
  log: Logger,
): DeploymentUsers {
  const numberOf = (id: string): Promise<number> => store.agentUser(id, range);
  return {
    async userOf({ id }) {
      const uid = await numberOf(id);
      return { uid, gid: uid };
    },
    async sweep(deploymentId) {
      await killProcessesOf(new Set([await numberOf(deploymentId)]), clock);
    },
    async sweepAll() {
      const ended = await killProcessesOf(new Set(await store.agentUids()), clock);
      if (ended > 0)
        log.info(`${ended} processes of agents and builds that an earlier service left behind were ended.`);
    },
  };
}
