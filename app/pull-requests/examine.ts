import { posix } from 'node:path';
import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import { nothingToDeploy, putCommitCheck, subjectOf } from '../events/commit-check.ts';
import type { PullRequest, PullRequestExaminer } from '../events/event-types.ts';
import { problemOfFile, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { FileTooLarge, type InstallationRepository } from '../github/github-api.ts';
import type { AppContext } from '../context.ts';
import { checkReport, commitCheckName } from '../reconcile/report.ts';
import { type FileReader, inProcessReader } from '../worker/file-readers.ts';
import { readCaseTexts } from '../targets/case-texts.ts';
import { type ExaminedFiles, touchedFiles } from './validation.ts';
import { isLastCommentRefused, noteRefusedComment } from './comment.ts';
import { forecast, type ForecastOptions } from './forecast.ts';
import { pullRequestCheck } from './pull-request-check.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ifFound } from '../../src/contract/service-error.ts';
import type { Ownership } from '../targets/ownership.ts';

/** Which deployments a repository may act on; the same rule as for pushes. */
export type AccessPolicy = (repository: InstallationRepository) => Pick<ForecastOptions, 'find' | 'refusal' | 'isOwn'>;

export interface ExaminerOptions {
  context: Pick<AppContext, 'githubApi' | 'store' | 'control' | 'agentAt' | 'clock' | 'random' | 'log'>;
  /** Every path that a pull request changes; undefined if GitHub's list is incomplete. */
  changedPaths: (pull: PullRequest) => Promise<readonly string[] | undefined>;
  accessPolicy: AccessPolicy;
  /** Reads files of repositories; in this process by default. */
  files?: Pick<FileReader, 'namedPaths' | 'validate'>;
}

/**
 * Examines pull requests. If one changes the deploy file or one of its graph configuration files, both are validated at
 * its head, and the check gets a forecast of the merge. The head is read as data: none of it runs, and none of it
 * decides what may be read.
 */
export const createPullRequestExaminer = (options: ExaminerOptions): PullRequestExaminer => ({
  async examine(pull) {
    const { context } = options;
    const { repository, headSha, number } = pull;
    const touched = await findTouchedFiles(pull, options);
    if (touched.length === 0) await clearCheck(pull, context);
    else {
      const content = await createContent(pull, touched, options);
      const subject = { kind: 'pull-request', number } as const;
      await context.store.putReport(checkReport({ repository, headSha, name: commitCheckName }, content, subject));
    }
    if (await isLastCommentRefused(context.store, pull)) await noteRefusedComment(context, pull);
  },
  plan: async (pull) => createContent(pull, await findTouchedFiles(pull, options), options),
});

/** Replaces an outdated report on the same pull request, whose base branch may have changed. */
async function clearCheck(pull: PullRequest, { store, clock }: ExaminerOptions['context']): Promise<void> {
  const { repository, headSha, number, fork, baseBranch } = pull;
  const source = fork ? 'a pull request from a fork' : 'a pull request';
  const why = `${source} deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
  const content = nothingToDeploy(why, [], clock.now());
  const stored = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  const subject = stored && subjectOf(stored.wanted);
  if (!stored || subject?.kind !== 'pull-request' || subject.number !== number) {
    return putCommitCheck({ store }, { repository, headSha }, content);
  }
  const report = checkReport({ repository, headSha, name: commitCheckName }, content, { kind: 'commit' });
  await store.putReport(report, stored.version);
}

/** Finds the changed files. Graph configurations of both sides count, because the base still deploys its own. */
async function findTouchedFiles(
  pull: PullRequest,
  { context, changedPaths, files: reader = inProcessReader }: ExaminerOptions,
): Promise<string[]> {
  const { repository, headSha, baseBranch } = pull;
  const files = await Promise.all([
    readText(context, repository, defaultConfigPath, headSha),
    readText(context, repository, defaultConfigPath, baseBranch),
  ]);
  if (files.every(({ text, unread }) => text === undefined && unread === undefined)) return [];
  // Listed late: 3,000 files take 30 requests, and most repositories have no deploy file.
  const changed = await changedPaths(pull);
  const texts = files.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const named = await Promise.all([...new Set(texts)].map((text) => reader.namedPaths(text, repository)));
  // The paths of an unreadable file are unknown, so all files are examined, which reports it.
  const isUnread = named.some((each) => 'unread' in each);
  const paths = named.flatMap((each) => ('unread' in each ? [] : [...each.graphConfigs, ...each.cases]));
  return touchedFiles(isUnread ? undefined : changed, [...new Set(paths.map((path) => posix.normalize(path)))]);
}

async function createContent(
  pull: PullRequest,
  touched: readonly string[],
  { context, accessPolicy, files: reader = inProcessReader }: ExaminerOptions,
) {
  const { repository, headSha, baseBranch } = pull;
  const files = await readFiles(pull, context, reader);
  const validation = await reader.validate(files, repository);
  const forecasting = { context, baseBranch, headSha, ...accessPolicy(repository) };
  const deployments = validation.problems.length > 0 ? [] : validation.deployments;
  const forecasts = await Promise.all(deployments.map((each) => forecast(each, forecasting)));
  const removesDeployFile = touched.length > 0 && files.deployFile === undefined && files.unread.length === 0;
  const { number, fork: isFork } = pull;
  const examined = { number, touched, removesDeployFile, validation, forecasts, baseBranch, isFork };
  return pullRequestCheck(examined, context.clock.now());
}

async function readFiles(
  { repository, headSha }: PullRequest,
  context: Pick<AppContext, 'githubApi'>,
  reader: Pick<FileReader, 'namedPaths'>,
): Promise<ExaminedFiles> {
  const { text: deployFile, unread: deployFileProblem } = await readText(
    context,
    repository,
    defaultConfigPath,
    headSha,
  );
  const none = { graphConfigs: [], cases: [] };
  const named = deployFile === undefined ? none : await reader.namedPaths(deployFile, repository);
  if ('unread' in named) {
    return { deployFile: undefined, graphConfigs: new Map(), unread: [unreadProblem(defaultConfigPath, named.unread)] };
  }
  const cases = await readCaseTexts(named.cases, (path) => context.githubApi.file(repository, path, headSha));
  const graphConfigs = new Map<string, string>();
  const unread = deployFileProblem ? [deployFileProblem] : [];
  for (const path of named.graphConfigs) {
    const read = await readText(context, repository, path, headSha);
    if (read.text !== undefined) graphConfigs.set(path, read.text);
    if (read.unread) unread.push(read.unread);
  }
  return { deployFile, graphConfigs, cases, unread };
}

/** Reads a file, or returns the problem if it is too large: an error would leave the pull request without a check. */
async function readText(
  { githubApi }: Pick<AppContext, 'githubApi'>,
  repository: InstallationRepository,
  path: string,
  ref: string,
): Promise<{ text?: string | undefined; unread?: Problem }> {
  try {
    return { text: await githubApi.file(repository, path, ref) };
  } catch (error) {
    if (!(error instanceof FileTooLarge)) throw error;
    return { unread: unreadProblem(path, error.why) };
  }
}

const unreadProblem = (file: string, why: string): Problem => problemOfFile(file, `this file was not read: ${why}`);

/** Like pushes, pull requests may act on the repository's own deployments and those that the operator bound to it. */
export const createAccessPolicy =
  (ownership: Ownership, control: Pick<ControlService, 'getDeployment' | 'listDeployments'>): AccessPolicy =>
  (repository) => {
    const refusal = (deployment: Deployment) =>
      ownership.refusal(repository, deployment) === undefined ? undefined : foreignProblem;
    return {
      async find({ name, deploymentId }) {
        if (deploymentId !== undefined) return ifFound(control.getDeployment(deploymentId));
        const named = await byName(control, name ?? '');
        // Of several with the same name, return a refused one, because a plan would report it too.
        return named.find((each) => refusal(each) !== undefined) ?? named[0];
      },
      refusal,
      isOwn: (repoUrl) => ownership.isOwn(repository, repoUrl),
    };
  };

/** Reveals neither the owner nor the content of the deployment. */
const foreignProblem = 'it is not a deployment of this repository, and the operator of the App did not bind it';

/** The deployments of exactly this name; a service may match names loosely. */
async function byName(
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  name: string,
): Promise<Deployment[]> {
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }));
  return Promise.all(listed.filter((each) => each.name === name).map(({ id }) => control.getDeployment(id)));
}
