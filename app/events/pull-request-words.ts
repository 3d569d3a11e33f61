import type { AppContext } from '../context.ts';
import { nothingToDeploy, putCommitCheck } from './commit-check.ts';
import type { PullRequestExaminer } from './handling.ts';

/** Reports that a pull request deploys nothing by itself, without examining it. */
export const brieflyExamined = (context: AppContext): PullRequestExaminer => ({
  async examine({ repository, headSha, baseBranch, fork }) {
    const whose = fork ? 'a pull request from a fork' : 'a pull request';
    const why = `${whose} deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
    await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], context.clock.now()));
  },
});
