import { posix } from 'node:path';
import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import { nothingToDeploy, putCommitCheck, subjectOf } from '../events/commit-check.ts';
import type { PullRequest, PullRequestExaminer } from '../events/event-types.ts';
import { problemOfFile, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { FileTooLarge, type InstallationRepository } from '../github/github-api.ts';
import type { AppContext } from '../context.ts';
import { checkReport, commitCheckName } from '../reconcile/report.ts';
import { type FileReader, readHere } from '../worker/file-readers.ts';
import { readCaseTexts } from '../targets/case-texts.ts';
import { type ExaminedFiles, touchedFiles } from './validation.ts';
import { forecast, type ForecastOptions } from './forecast.ts';
import { pullRequestCheck } from './pull-request-check.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ifFound } from '../../src/contract/service-error.ts';
import type { Ownership } from '../targets/ownership.ts';

/** Which deployments a repository may act on, by the rule that pushes go by. */
export type AccessPolicy = (repository: InstallationRepository) => Pick<ForecastOptions, 'find' | 'refusal' | 'isOwn'>;

export interface ExaminerOptions {
  context: Pick<AppContext, 'githubApi' | 'store' | 'control' | 'agentAt' | 'clock' | 'random'>;
  /** Every path that a pull request changes; undefined if the list is cut. */
  changedPaths: (pull: PullRequest) => Promise<readonly string[] | undefined>;
  actingRule: AccessPolicy;
  /** Reads files of repositories; in this process by default. */
  files?: Pick<FileReader, 'namedPaths' | 'validate'>;
}

/**
 * Examines pull requests: one that changes the deploy file, or a graph configuration file that it names, has both
 * validated from its own commit, and gets a forecast of the merge. Everything of its head is read as data; none of it
 * is run, and none of it decides what may be read.
 */
export const createPullRequestExaminer = (examining: ExaminerOptions): PullRequestExaminer => ({
  async examine(pull) {
    const { context } = examining;
    const { repository, headSha, number } = pull;
    const touched = await touchedBy(pull, examining);
    if (touched.length === 0) return clearCheck(pull, context);
    const content = await contentOf(pull, touched, examining);
    const subject = { kind: 'pull-request', number } as const;
    await context.store.putReport(checkReport({ repository, headSha, name: commitCheckName }, content, subject));
  },
});

/** An earlier report on the same pull request is outdated: its base branch may have changed. */
async function clearCheck(pull: PullRequest, { store, clock }: ExaminerOptions['context']): Promise<void> {
  const { repository, headSha, number, fork, baseBranch } = pull;
  const whose = fork ? 'a pull request from a fork' : 'a pull request';
  const why = `${whose} deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
  const content = nothingToDeploy(why, [], clock.now());
  const said = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  const subject = said && subjectOf(said.wanted);
  if (!said || subject?.kind !== 'pull-request' || subject.number !== number) {
    return putCommitCheck({ store }, { repository, headSha }, content);
  }
  const report = checkReport({ repository, headSha, name: commitCheckName }, content, { kind: 'commit' });
  await store.putReport(report, said.version);
}

/** The graph configurations of both sides count: one that the head no longer names is still deployed from the base. */
async function touchedBy(
  pull: PullRequest,
  { context, changedPaths, files: reader = readHere }: ExaminerOptions,
): Promise<string[]> {
  const { repository, headSha, baseBranch } = pull;
  const files = await Promise.all([
    readText(context, repository, defaultConfigPath, headSha),
    readText(context, repository, defaultConfigPath, baseBranch),
  ]);
  if (files.every(({ text, unread }) => text === undefined && unread === undefined)) return [];
  // A list of 3,000 files takes 30 requests, and most repositories have no deploy file.
  const changed = await changedPaths(pull);
  const texts = files.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const named = await Promise.all([...new Set(texts)].map((text) => reader.namedPaths(text, repository)));
  // What a file names that could not be read may be changed: that is examined, and reported there.
  const isUnread = named.some((each) => 'unread' in each);
  const paths = named.flatMap((each) => ('unread' in each ? [] : [...each.graphConfigs, ...each.cases]));
  return touchedFiles(isUnread ? undefined : changed, [...new Set(paths.map((path) => posix.normalize(path)))]);
}

async function contentOf(
  pull: PullRequest,
  touched: readonly string[],
  { context, actingRule, files: reader = readHere }: ExaminerOptions,
) {
  const { repository, headSha, baseBranch } = pull;
  const files = await filesOf(pull, context, reader);
  const validation = await reader.validate(files, repository);
  const forecasting = { context, baseBranch, headSha, ...actingRule(repository) };
  const deployments = validation.problems.length > 0 ? [] : validation.deployments;
  const forecasts = await Promise.all(deployments.map((each) => forecast(each, forecasting)));
  const removesDeployFile = files.deployFile === undefined && files.unread.length === 0;
  const { number, fork: isFork } = pull;
  const examined = { number, touched, removesDeployFile, validation, forecasts, baseBranch, isFork };
  return pullRequestCheck(examined, context.clock.now());
}

async function filesOf(
  { repository, headSha }: PullRequest,
  context: Pick<AppContext, 'githubApi'>,
  reader: Pick<FileReader, 'namedPaths'>,
): Promise<ExaminedFiles> {
  const { text: deployFile, unread: whole } = await readText(context, repository, defaultConfigPath, headSha);
  const none = { graphConfigs: [], cases: [] };
  const named = deployFile === undefined ? none : await reader.namedPaths(deployFile, repository);
  if ('unread' in named) {
    return { deployFile: undefined, graphConfigs: new Map(), unread: [notRead(defaultConfigPath, named.unread)] };
  }
  const cases = await readCaseTexts(named.cases, (path) => context.githubApi.file(repository, path, headSha));
  const graphConfigs = new Map<string, string>();
  const unread = whole ? [whole] : [];
  for (const path of named.graphConfigs) {
    const read = await readText(context, repository, path, headSha);
    if (read.text !== undefined) graphConfigs.set(path, read.text);
    if (read.unread) unread.push(read.unread);
  }
  return { deployFile, graphConfigs, cases, unread };
}

/** A file's text, or what to report if it is too large: without a check the pull request would be blocked. */
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
    return { unread: notRead(path, error.why) };
  }
}

const notRead = (file: string, why: string): Problem => problemOfFile(file, `this file was not read: ${why}`);

/** The rule that pushes go by: a repository's own deployments, and those that the operator bound to it. */
export const createAccessPolicy =
  (ownership: Ownership, control: Pick<ControlService, 'getDeployment' | 'listDeployments'>): AccessPolicy =>
  (repository) => {
    const refusal = (deployment: Deployment) =>
      ownership.refusal(repository, deployment) === undefined ? undefined : notYours;
    return {
      async find({ name, deploymentId }) {
        if (deploymentId !== undefined) return ifFound(control.getDeployment(deploymentId));
        const named = await byName(control, name ?? '');
        // Of several with one name the refused one counts: a plan would report it.
        return named.find((each) => refusal(each) !== undefined) ?? named[0];
      },
      refusal,
      isOwn: (repoUrl) => ownership.isOwn(repository, repoUrl),
    };
  };

/** Reveals neither its owner nor its contents. */
const notYours = 'it is not a deployment of this repository, and the operator of the App did not bind it';

/** The deployments of exactly this name; a service may match names loosely. */
async function byName(
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  name: string,
): Promise<Deployment[]> {
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }));
  return Promise.all(listed.filter((each) => each.name === name).map(({ id }) => control.getDeployment(id)));
}
