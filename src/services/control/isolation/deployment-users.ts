import type { IdRange } from '../store/agent-users.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { ControlStore } from '../store/store.ts';
import { killProcessesOf } from '../compute/process-family.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The ranges of user ids, the best first: beyond those of distributions, or of a container with 65,536 ids. */
const candidates: readonly IdRange[] = [
  { first: 1_880_000_000, count: 200_000_000 },
  { first: 20_000, count: 40_000 },
];

/**
 * The range of ids, if any, that this process may use for deployments' users, by the texts of `/proc/self/uid_map` and
 * `gid_map`: lines of first number inside, outside, and count.
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

/** The users of deployments, with ids from the range. */
export function deploymentUsers(
  store: Pick<ControlStore, 'agentUser' | 'agentUids'>,
  range: IdRange,
  clock: Clock,
  log: Logger,
) {
  return {
    /** A deployment's own user, permanently. Its group has the same number. */
    userOf: async ({ id }: { id: string }): Promise<ProcessUser> => {
      const uid = await store.agentUser(id, range);
      return { uid, gid: uid };
    },
    /** Kills all processes of a deployment. */
    sweep: async (deploymentId: string): Promise<void> => {
      await killProcessesOf(new Set([await store.agentUser(deploymentId, range)]), clock);
    },
    /** Kills all processes of all deployments, which a killed service left. */
    async sweepAll(): Promise<void> {
      const ended = await killProcessesOf(new Set(await store.agentUids()), clock);
      if (ended > 0) log.info(`${ended} orphaned processes of agents and builds of an earlier service were ended.`);
    },
  };
}
