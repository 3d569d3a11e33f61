import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { missingCodes, unlessCode } from '../../kit/errors.ts';
import { graphLocations, type GraphLocation } from '../../agent-folder/graph-config/graph-path.ts';
import { dockerfileVariables } from '../../agent-folder/graph-config/image-only-keys.ts';
import { packagesNeeded, checkRunnable } from '../../agent-folder/graph-config/language.ts';
import { readGraphConfig } from '../../agent-folder/graph-config/read.ts';
import type { GraphConfig } from '../../agent-folder/graph-config/schema.ts';
import { fieldName, formatProblem, type FieldPath } from '../../kit/diagnostics/problem.ts';
import { StartupError } from './startup-error.ts';
import type { Logger } from '../../kit/logger.ts';

export interface Configuration {
  places: GraphLocation[];
  /** Defaults for the agent's environment variables. */
  env: Record<string, string>;
  /** The whole file; each module reads its own part. */
  file: GraphConfig;
  /** The error for a value that turned out wrong after the file was read, with its line. */
  invalid(path: FieldPath, message: string): StartupError;
}

/**
 * Reads the graph configuration file and its env file. @throws StartupError with every problem and its line, or if this
 * machine can't run one of the graphs.
 */
export function readConfiguration(configPath: string, log: Logger, { python = false } = {}): Configuration {
  const name = basename(configPath);
  const text = readIfThere(configPath);
  if (text === undefined) {
    const advice = 'Check graph_config_path: it is relative to the root of the repository.';
    throw new StartupError('config-missing', [`There is no graph configuration file ${configPath}. ${advice}`]);
  }
  const read = readGraphConfig(text, name);
  if (!read.ok) throw new StartupError('config-invalid', read.problems.map(formatProblem));
  if (read.refused.length > 0) throw new StartupError('config-invalid', read.refused.map(formatProblem));
  for (const warning of read.warnings) log.warn(formatProblem(warning));
  const places = graphLocations(read.value);
  const runnable = checkRunnable(places, { python });
  if (runnable.kind === 'refused') {
    const { line, column } = read.placeOf(['graphs', runnable.graphId]);
    throw new StartupError('graph-language', [`${name}:${line}:${column}: ${runnable.reason}`]);
  }
  return {
    places,
    env: { ...ofDockerfile(read.value), ...variables(read.value.env, dirname(configPath), log) },
    file: read.value,
    invalid: (path, message) => {
      const problem = { file: name, ...read.placeOf(path), field: fieldName(path), message };
      return new StartupError('config-invalid', [formatProblem(problem)]);
    },
  };
}

/** The lines `ENV` of graphs in Python, which need no image. */
const ofDockerfile = (config: GraphConfig): Record<string, string> =>
  packagesNeeded(config).python ? dockerfileVariables(config.dockerfile_lines ?? []) : {};

function variables(env: GraphConfig['env'], folder: string, log: Logger): Record<string, string> {
  if (env === undefined) return {};
  if (typeof env !== 'string') return env;
  const text = readIfThere(resolve(folder, env));
  if (text === undefined) {
    // Env files are seldom committed: deployments provide their variables as secrets.
    log.warn(
      `the env file ${env} does not exist: repositories and uploads leave such files out. Give its variables as secrets.`,
    );
    return {};
  }
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseEnv(text))) if (value !== undefined) found[name] = value;
  return found;
}

const readIfThere = (path: string): string | undefined =>
  unlessCode([...missingCodes, 'EISDIR'], undefined, () => readFileSync(path, 'utf8'));
