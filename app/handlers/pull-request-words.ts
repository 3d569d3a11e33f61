import type { World } from '../world.ts';
import { nothingToDeploy, putCommitCheck } from './commit-check.ts';
import type { PullRequestDesk } from './handling.ts';

/** Says of every pull request that it deploys nothing by itself, and looks no further. */
export const brieflyExamined = (world: World): PullRequestDesk => ({
  async examine({ repository, headSha, baseBranch, fork }) {
    const whose = fork ? 'a pull request from a fork' : 'a pull request';
    const why = `${whose} deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
    await putCommitCheck(world, { repository, headSha }, nothingToDeploy(why, [], world.clock.now()));
  },
});
