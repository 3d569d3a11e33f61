import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { graphPlaces } from '../../graph-config/graph-path.ts';
import { runnableHere } from '../../graph-config/language.ts';
import { readGraphConfig } from '../../graph-config/read.ts';
import { formatProblem } from '../../diagnostics/problem.ts';
import type { WriteLine } from '../compute/log-line.ts';
import { realPath } from './allowed-repository.ts';
import { isWithin } from './build-folder.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';

const largest = 1_000_000;

const missing = {
  repository: 'The repository has no file',
  'source tarball': 'The source tarball has no file',
} as const;

/**
 * Finds and reads the graph configuration file of a checkout: it must be inside, also after following links, be valid, and
 * name graphs that this machine can run. Writes every problem to the log.
 *
 * @param what the checkout, for a person.
 * @returns its real path.
 */
export function findGraphConfig(
  source: string,
  graphConfigPath: string,
  log: WriteLine,
  what: 'repository' | 'source tarball' = 'repository',
): StepResult<string> {
  const advice = `Check source_revision_config.graph_config_path: it is relative to the root of the ${what}.`;
  const file = realPath(join(source, graphConfigPath));
  if (file === undefined) return stepFailed(`${missing[what]} ${graphConfigPath}. ${advice}`);
  if (!isWithin(realpathSync(source), file))
    return stepFailed(`${graphConfigPath} leads out of the ${what}. ${advice}`);
  const stat = statSync(file);
  if (!stat.isFile()) return stepFailed(`${graphConfigPath} is not a file. ${advice}`);
  if (stat.size > largest) return stepFailed(`${graphConfigPath} is larger than ${largest} bytes.`);

  const read = readGraphConfig(readFileSync(file, 'utf8'), graphConfigPath);
  const problems = read.ok ? read.refused : read.problems;
  if (!read.ok || problems.length > 0) {
    for (const problem of problems) log('error', formatProblem(problem));
    // A misspelled key may cause the other problems: a problem with a suggestion explains most.
    const reporting = problems.find(({ suggestion }) => suggestion !== undefined) ?? problems[0];
    const more = problems.length <= 1 ? '' : ` (and ${problems.length - 1} more in the build log)`;
    return stepFailed(
      `The graph configuration is invalid: ${reporting ? formatProblem(reporting) : graphConfigPath}${more}.`,
    );
  }
  for (const warning of read.warnings) log('warning', formatProblem(warning));
  const runnable = runnableHere(graphPlaces(read.value));
  return runnable.kind === 'runnable' ? succeeded(file) : stepFailed(runnable.reason);
}
