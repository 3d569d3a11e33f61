import { defaultConfigPath, readDrafts } from '../../src/deploy/file/deploy-file.ts';
import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import { readDesired } from '../../src/deploy/file/read-desired.ts';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { inOrder, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { caseFilesOf, type CaseTexts } from '../targets/case-texts.ts';
import type { CheckAnnotation } from '../github/github-api.ts';
import { posix } from 'node:path';
import { fieldProblem } from '../../src/deploy/file/draft.ts';

/** The problems of the files of a pull request, and their deployments if they are valid. */
export interface Validation {
  problems: readonly Problem[];
  warnings: readonly Problem[];
  deployments: readonly DesiredDeployment[];
}

/** Validates the files of a pull request as data. Secrets are not looked up: only the workflow has them. */
export function validate(files: ExaminedFiles): Validation {
  const { deployFile, graphConfigs, cases = {} } = files;
  const read =
    deployFile === undefined
      ? { ok: true as const, deployments: [] }
      : readDesired({ inputs: {}, file: { text: deployFile, path: defaultConfigPath }, cases: caseFilesOf(cases) });
  const configs = [...graphConfigs].map(([path, text]) => readGraphConfig(text, path));
  return {
    problems: inOrder([
      ...files.unread,
      ...(read.ok ? [] : read.problems),
      ...configs.flatMap((each) => (each.ok ? [] : each.problems)),
    ]),
    warnings: inOrder([
      ...(read.ok ? missingGraphConfigs(files) : []),
      ...configs.flatMap((each) => (each.ok ? [...each.warnings, ...each.refused] : [])),
    ]),
    deployments: read.ok ? read.deployments : [],
  };
}

/** Problems and warnings as annotations on their lines. */
export const annotationsOf = ({ problems, warnings }: Validation): CheckAnnotation[] => [
  ...problems.map((each) => annotation(each, 'failure')),
  ...warnings.map((each) => annotation(each, 'warning')),
];

function annotation(
  { file, line, field, message, suggestion }: Problem,
  level: CheckAnnotation['level'],
): CheckAnnotation {
  const suggestionText = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`;
  return {
    path: file,
    startLine: line,
    endLine: line,
    level,
    ...(field ? { title: field } : {}),
    message: `${message}${suggestionText}`,
  };
}

/** The Landfall files of a pull request's commit. A missing file has no text. */
export interface ExaminedFiles {
  deployFile: string | undefined;
  graphConfigs: ReadonlyMap<string, string>;
  /** The case files of the deploy file. */
  cases?: CaseTexts;
  /** Files that exist but were not read. */
  unread: readonly Problem[];
}

/** The maximum number of graph configuration files that are read for a pull request. */
const maxGraphConfigs = 20;

/** The graph configuration files of a deploy file, without duplicates, even if the file has other problems. */
export function graphConfigPaths(deployFile: string): string[] {
  const drafts = readDrafts(deployFile, defaultConfigPath);
  if (!drafts.ok) return [];
  const written = drafts.drafts.map(({ fields }) => fields.get('graph-config-path')?.value);
  const paths = written.filter((each) => typeof each === 'string').map((each) => posix.normalize(each.trim()));
  const validPaths = paths.filter((each) => each !== '.' && !/^(\/|\.\.(\/|$))|\\|[\p{Cc}]/u.test(each));
  return [...new Set(validPaths)].slice(0, maxGraphConfigs);
}

/** Finds graph configuration files that are not in the commit, and reports them where the deploy file names them. */
function missingGraphConfigs({ deployFile, graphConfigs, unread }: ExaminedFiles): Problem[] {
  const drafts = deployFile === undefined ? undefined : readDrafts(deployFile, defaultConfigPath);
  if (!drafts?.ok) return [];
  return drafts.drafts.flatMap(({ fields }) => {
    const written = fields.get('graph-config-path');
    if (!written || typeof written.value !== 'string') return [];
    const path = posix.normalize(written.value.trim());
    if (graphConfigs.has(path) || unread.some(({ file }) => file === path)) return [];
    return [
      fieldProblem(
        written,
        ['graph-config-path'],
        'this commit has no such file: right only where the deployment is of another repository',
      ),
    ];
  });
}

/**
 * Which of the deploy file and these paths a pull request changes; all of them if the list of changes is incomplete.
 */
export function touchedFiles(changed: readonly string[] | undefined, paths: readonly string[]): string[] {
  const candidates = [defaultConfigPath, ...paths];
  return changed === undefined ? candidates : candidates.filter((path) => changed.includes(path));
}
