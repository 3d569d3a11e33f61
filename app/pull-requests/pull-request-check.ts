import { formatProblem } from '../../src/kit/diagnostics/problem.ts';
import { changeTable, checkLimitBytes, obstacleTable, truncateSections } from '../../src/deploy/words/summary.ts';
import { asCode, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import type { CheckContent } from '../github/github-api.ts';
import type { Forecast } from './forecast.ts';
import { annotationsOf, type Validation } from './validation.ts';

/** The result of examining a pull request. */
export interface ExaminationResult {
  number: number;
  /** The changed files that were examined. */
  touched: readonly string[];
  /** Whether the head lacks the deploy file of the base. */
  removesDeployFile: boolean;
  validation: Validation;
  forecasts: readonly Forecast[];
  baseBranch: string;
  /** A fork's check lists the fields that would change, without the deployment's values. */
  isFork: boolean;
}

/** The hidden line that marks a pull request's check. */
const markOf = (pullRequest: number): string => `<!-- landfall: pull request ${pullRequest} -->`;

const truncationNote =
  '_The rest did not fit into a check run; `npx landfall validate` and `npx landfall plan` show all of it._';

/** The check of a pull request that changes examined files: what is wrong, and what merging would do. */
export function pullRequestCheck(examined: ExaminationResult, now: number): CheckContent {
  const { validation } = examined;
  const hasProblems = validation.problems.length > 0;
  const refused = examined.forecasts.some(({ kind }) => kind === 'refused' || kind === 'impossible');
  const annotations = annotationsOf(validation);
  return {
    status: 'completed',
    conclusion: hasProblems || refused ? 'failure' : 'success',
    title: titleOf(examined),
    summary: truncateSections(summarySections(examined), checkLimitBytes, truncationNote),
    ...(examined.forecasts.length > 0 && !examined.isFork
      ? { text: truncateSections(examined.forecasts.map(section), checkLimitBytes, truncationNote) }
      : {}),
    completedAt: new Date(now).toISOString(),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

function titleOf({ validation, forecasts, removesDeployFile }: ExaminationResult): string {
  const { length } = validation.problems;
  if (length > 0) return `${count(length, 'problem')} in the files`;
  if (removesDeployFile) return 'The deploy file is removed';
  const countKind = (kind: Forecast['kind']) => forecasts.filter((each) => each.kind === kind).length;
  const blocked = countKind('refused') + countKind('impossible');
  if (blocked > 0) return `${count(blocked, 'deployment')} cannot be deployed as written`;
  if (countKind('unavailable') > 0) return 'The files are valid; the service did not respond';
  const parts = [
    ...(countKind('create') > 0 ? [`create ${count(countKind('create'), 'deployment')}`] : []),
    ...(countKind('patch') > 0 ? [`change ${count(countKind('patch'), 'deployment')}`] : []),
  ];
  if (parts.length === 0 && countKind('unseen') > 0)
    return `The files are fine; ${count(countKind('unseen'), 'deployment')} not looked at`;
  if (parts.length === 0) return 'The files are fine; nothing would change';
  return `Would ${parts.join(' and ')}: ${count(revisionsOf(forecasts), 'revision')}`;
}

function summarySections({
  number,
  validation,
  forecasts,
  touched,
  removesDeployFile,
  baseBranch,
  isFork,
}: ExaminationResult): string[] {
  const { problems, warnings } = validation;
  const changes =
    touched.length > 0 ? touched.map((path) => asCode(path)).join(', ') : 'neither the deploy file nor what that names';
  const head = `${markOf(number)}\nThis pull request changes ${changes}. The files were read from its commit as data; nothing of it was run.`;
  if (problems.length > 0) {
    return [head, `### ${count(problems.length, 'problem')}`, ...problems.map(bullet), ...warningSections(warnings)];
  }
  if (removesDeployFile) {
    const consequence =
      'Deployments that the service lists with `build_on_push` are built on pushes as before, without smoke tests.';
    return [head, `Merging removes the deploy file. ${consequence}`];
  }
  const applyHint = `A push to ${asCode(baseBranch)} is built by the App; fields of the file are applied by the Action, or by \`npx landfall deploy\`.`;
  const rows = forecasts.map((each) => row(each, isFork));
  const table = [
    '| deployment | merging and applying it would | revisions | because of |',
    '|---|---|---|---|',
    ...rows,
  ];
  const forkNote = 'It comes from a fork: the fields that would change are listed, their current values are not.';
  const forkNotes = isFork ? [forkNote] : [];
  return [
    head,
    ...forkNotes,
    ...(rows.length > 0 ? [table.join('\n'), applyHint] : ['It names no deployment.']),
    ...warningSections(warnings),
  ];
}

const warningSections = (warnings: Validation['warnings']): string[] =>
  warnings.length > 0 ? ['### Warnings', ...warnings.map(bullet)] : [];

const bullet = (problem: Validation['problems'][number]): string => `- ${asMarkdown(formatProblem(problem), 1000)}`;

function row(forecast: Forecast, isFork: boolean): string {
  const name = asMarkdown(forecast.deployment, 100);
  switch (forecast.kind) {
    case 'unseen':
      return `| ${name} | not be looked at | | ${asMarkdown(forecast.why)} |`;
    case 'refused':
    case 'unavailable':
      return `| ${name} | ${forecast.kind === 'refused' ? 'be refused' : 'not be known'} | | ${isFork && forecast.kind === 'unavailable' ? '' : asMarkdown(forecast.why)} |`;
    case 'impossible':
      return `| ${name} | be impossible | | ${forecast.obstacles.map(({ field, problem }) => `${asCode(field)}${isFork ? '' : `: ${asMarkdown(problem)}`}`).join('<br>')} |`;
    case 'none':
      return `| ${name} | change nothing | 0 | ${isFork ? '' : asMarkdown(forecast.why)} |`;
    default: {
      const reasons = forecast.changes.filter(({ makesRevision }) => makesRevision || forecast.revisions === 0);
      const fields = [...new Set(reasons.map(({ field }) => asCode(field)))].join(', ');
      return `| ${name} | ${forecast.kind === 'create' ? 'create it' : 'patch it'} | ${forecast.revisions} | ${fields || (isFork ? '' : asMarkdown(forecast.why))} |`;
    }
  }
}

function section(forecast: Forecast): string {
  const title = `### ${asMarkdown(forecast.deployment, 100)}`;
  switch (forecast.kind) {
    case 'refused':
    case 'unseen':
    case 'unavailable':
      return `${title}\n\n${asMarkdown(forecast.why, 1000)}`;
    case 'impossible':
      return `${title}\n\n${obstacleTable(forecast.obstacles)}`;
    default: {
      const { changes, why } = forecast;
      const body = changes.length > 0 ? changeTable(changes, 'makes a revision') : asMarkdown(why, 1000);
      return [title, '', body, ...notes(forecast.notes)].join('\n');
    }
  }
}

const notes = (reported: readonly string[]): string[] =>
  reported.length > 0 ? ['', ...reported.map((note) => `- ${asMarkdown(note, 1000)}`)] : [];

const revisionsOf = (forecasts: readonly Forecast[]): number =>
  forecasts.reduce((sum, each) => sum + ('revisions' in each ? each.revisions : 0), 0);

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
