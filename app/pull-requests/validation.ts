import { defaultConfigPath, readDrafts } from '../../src/deploy/file/deploy-file.ts';
import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import { readDesired } from '../../src/deploy/file/read-desired.ts';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { inOrder, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { caseFilesOf, type CaseTexts } from '../targets/case-texts.ts';
import type { CheckAnnotation } from '../github/github-api.ts';
import { posix } from 'node:path';
import { fieldProblem } from '../../src/deploy/file/draft.ts';

/** What is wrong with the files of a pull request, and what they ask for where they can be read. */
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

/** Problems and warnings on the lines that they are about. */
export const annotationsOf = ({ problems, warnings }: Validation): CheckAnnotation[] => [
  ...problems.map((each) => annotation(each, 'failure')),
  ...warnings.map((each) => annotation(each, 'warning')),
];

function annotation(
  { file, line, field, message, suggestion }: Problem,
  level: CheckAnnotation['level'],
): CheckAnnotation {
  const meant = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`;
  return {
    path: file,
    startLine: line,
    endLine: line,
    level,
    ...(field ? { title: field } : {}),
    message: `${message}${meant}`,
  };
}

/** The Landfall files of a pull request's commit. A missing file has no text. */
export interface ExaminedFiles {
  deployFile: string | undefined;
  graphConfigs: ReadonlyMap<string, string>;
  /** The files of cases that the deploy file names. */
  cases?: CaseTexts;
  /** Files that are there and were not read. */
  unread: readonly Problem[];
}

/** The most graph configuration files read for one pull request: a file may name as many as it likes. */
const maxGraphConfigs = 20;

/** The graph configuration files that a deploy file names, each once, however much else is wrong with it. */
export function graphConfigPaths(deployFile: string): string[] {
  const drafts = readDrafts(deployFile, defaultConfigPath);
  if (!drafts.ok) return [];
  const written = drafts.drafts.map(({ fields }) => fields.get('graph-config-path')?.value);
  const paths = written.filter((each) => typeof each === 'string').map((each) => posix.normalize(each.trim()));
  const within = paths.filter((each) => each !== '.' && !/^(\/|\.\.(\/|$))|\\|[\p{Cc}]/u.test(each));
  return [...new Set(within)].slice(0, maxGraphConfigs);
}

/** A graph configuration file that is named and is not in the commit, at the line that names it. */
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
 * Which of the deploy file and these graph configuration files a pull request changes; all of them if the list of what
 * it changes is cut.
 */
export function touchedFiles(changed: readonly string[] | undefined, paths: readonly string[]): string[] {
  const known = [defaultConfigPath, ...paths];
  return changed === undefined ? known : known.filter((path) => changed.includes(path));
}
