import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import { nothingToDeploy, putCommitCheck } from '../handlers/commit-check.ts';
import type { PullRequestAt } from '../handlers/event-types.ts';
import type { PullRequestDesk } from '../handlers/handling.ts';
import type { RepositoryAt } from '../repository.ts';
import { commitCheckName } from '../work/report.ts';
import type { World } from '../world.ts';
import { graphConfigPaths, touchedFiles, type ExaminedFiles } from './examined-files.ts';
import { forecast, type Forecasting } from './forecast.ts';
import { pullRequestCheck } from './pull-request-check.ts';
import { validate } from './validation.ts';

/** Which deployments a repository may act on, by the rule that pushes go by. */
export type ActingRule = (
  repository: RepositoryAt,
) => Promise<Pick<Forecasting, 'find' | 'refusal' | 'isOwn'>> | Pick<Forecasting, 'find' | 'refusal' | 'isOwn'>;

/** What examining takes. */
export interface Examining {
  world: Pick<World, 'hub' | 'store' | 'control' | 'agentAt' | 'clock' | 'random'>;
  /** Every path that a pull request changes; undefined where the list is cut. */
  changedPaths: (pull: PullRequestAt) => Promise<readonly string[] | undefined>;
  actingRule: ActingRule;
}

/**
 * Looks at pull requests: one that changes the deploy file, or a graph configuration file that it names, has both
 * validated from its own commit, and is told what merging would do. Everything of its head is read as data; none of it
 * is run, and none of it decides what may be looked at.
 */
export const createPullRequestDesk = (examining: Examining): PullRequestDesk => ({
  async examine(pull) {
    const { world } = examining;
    const { repository, headSha } = pull;
    const touched = await touchedBy(pull, examining);
    if (touched.length === 0) {
      await putCommitCheck(world, { repository, headSha }, nothingToDeploy(whyNothing(pull), [], world.clock.now()));
      return;
    }
    const content = await contentOf(pull, touched, examining);
    const wanted = { kind: 'check', content } as const;
    await world.store.putReport({ kind: 'check', repository, headSha, name: commitCheckName, wanted });
  },
});

function whyNothing({ fork, baseBranch }: PullRequestAt): string {
  const whose = fork ? 'a pull request from a fork' : 'a pull request';
  return `${whose} deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
}

/** The graph configurations of both sides count: one that the head no longer names is still deployed from the base. */
async function touchedBy(pull: PullRequestAt, { world, changedPaths }: Examining): Promise<string[]> {
  const { repository, headSha, baseBranch } = pull;
  const [changed, head, base] = await Promise.all([
    changedPaths(pull),
    world.hub.file(repository, defaultConfigPath, headSha),
    world.hub.file(repository, defaultConfigPath, baseBranch),
  ]);
  if (head === undefined && base === undefined) return [];
  const named = [...new Set([head, base].flatMap((text) => (text === undefined ? [] : graphConfigPaths(text))))];
  return touchedFiles(changed, named);
}

async function contentOf(pull: PullRequestAt, touched: readonly string[], { world, actingRule }: Examining) {
  const { repository, headSha, baseBranch } = pull;
  const files = await filesOf(pull, world);
  const validation = validate(files);
  const rule = await actingRule(repository);
  const forecasts =
    validation.problems.length > 0
      ? []
      : await Promise.all(
          validation.deployments.map((each) => forecast(each, { world, baseBranch, headSha, ...rule })),
        );
  const removesDeployFile = files.deployFile === undefined;
  const examined = { touched, removesDeployFile, validation, forecasts, baseBranch, isFork: pull.fork };
  return pullRequestCheck(examined, world.clock.now());
}

async function filesOf({ repository, headSha }: PullRequestAt, { hub }: Pick<World, 'hub'>): Promise<ExaminedFiles> {
  const deployFile = await hub.file(repository, defaultConfigPath, headSha);
  const paths = deployFile === undefined ? [] : graphConfigPaths(deployFile);
  const graphConfigs = new Map<string, string>();
  for (const path of paths) {
    const text = await hub.file(repository, path, headSha);
    if (text !== undefined) graphConfigs.set(path, text);
  }
  return { deployFile, graphConfigs };
}
