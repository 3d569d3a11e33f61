import { shortCommit } from '../../contract/control/repo-ref.ts';
import { say, type Sayings } from '../../kit/coded.ts';
import type { ObstacleFacts } from '../rules/plan-types.ts';
import type { EarlierObstacle } from '../rules/promotion.ts';
import type { EarlierObstacleCode } from '../rules/trigger-types.ts';

/** Why nothing is promoted from the environment before, as a clause, and what to do about it as a sentence. */
export const earlierObstacles: Sayings<Pick<ObstacleFacts, EarlierObstacleCode>, [problem: string, advice: string]> = {
  'earlier-missing': ({ name, matches }) => [
    matches === 0
      ? `there is no deployment ${name}, which comes before this one`
      : `${matches} deployments are named ${name}, which comes before this one`,
    matches === 0 ? 'Deploy that one first.' : 'Give its deployment-id in the deploy file.',
  ],
  'earlier-not-live': ({ name }) => [
    `nothing is live on ${name}, which comes before this one`,
    'Deploy that one first.',
  ],
  'earlier-other-commit': ({ name, commit, live }) => [
    live
      ? `${name}, which comes before this one, serves ${shortCommit(live)}${commit ? ` and not ${shortCommit(commit)}` : ''}`
      : `the service does not report which commit ${name}, which comes before this one, serves`,
    'Deploy the commit there first, or run this for the commit that serves there.',
  ],
  'earlier-unproven': ({ name, commit, verdict }) => [
    verdict === 'failed'
      ? `${shortCommit(commit)} failed its smoke tests on ${name}, which comes before this one`
      : `no smoke test has proven ${shortCommit(commit)} on ${name}, which comes before this one`,
    verdict === undefined
      ? 'Give that deployment smoke tests and deploy it again.'
      : 'Run its smoke tests again, or deploy another commit there.',
  ],
};

/** The words of one reason. */
export const earlierWords = (obstacle: EarlierObstacle): [problem: string, advice: string] =>
  say(earlierObstacles, obstacle);
