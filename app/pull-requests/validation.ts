import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import type { DesiredDeployment } from '../../src/config/desired.ts';
import { readDesired } from '../../src/config/read-desired.ts';
import { readGraphConfig } from '../../src/graph-config/read.ts';
import { inOrder, type Problem } from '../../src/diagnostics/problem.ts';
import type { CheckAnnotation } from '../github/github-api.ts';
import { missingGraphConfigs, type ExaminedFiles } from './examined-files.ts';

/** What is wrong with the files of a pull request, and what they ask for where they can be read. */
export interface Validation {
  problems: readonly Problem[];
  warnings: readonly Problem[];
  deployments: readonly DesiredDeployment[];
}

/** Validates the files of a pull request as data. Secrets are not looked up: only the workflow has them. */
export function validate(files: ExaminedFiles): Validation {
  const { deployFile, graphConfigs } = files;
  const read =
    deployFile === undefined
      ? { ok: true as const, deployments: [] }
      : readDesired({ inputs: {}, file: { text: deployFile, path: defaultConfigPath } });
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
