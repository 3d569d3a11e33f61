import { dirname } from 'node:path';
import { engineLinePrefix, engineProblem } from '../../../agent-folder/packages/lock-files.ts';
import { importProblem, readImportOutcome } from '../../../agent-folder/packages/python/import-outcome.ts';
import { graphLocations } from '../../../agent-folder/graph-config/graph-path.ts';
import { graphLanguage } from '../../../agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { agentServerPath, preparePath } from '../compute/agent-environment.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { isDiskFullMessage } from './free-space.ts';
import { describeFailure, type CommandSpec, type RunCommand } from './run-command.ts';

interface Preparation {
  /** The graph configuration file, and its content. */
  file: string;
  config: GraphConfig;
  program: AgentProgramFiles | undefined;
  run: RunCommand;
  log: WriteLine;
  warn: RunningBuild['warn'];
}

/** Refuses an engine that is too old, right after the install. An unknown version passes: the start would fail. */
export async function checkEngines({
  file,
  program,
  run,
}: Pick<Preparation, 'file' | 'program' | 'run'>): Promise<StepResult<undefined>> {
  const end = await run({ ...prepare('engines', file, program), silent: true });
  const lines = end.kind === 'done' ? end.output.filter((line) => line.startsWith(engineLinePrefix)) : [];
  const [problem] = lines.flatMap((line) => engineProblem(line.slice(engineLinePrefix.length)) ?? []);
  return problem === undefined ? succeeded(undefined) : stepFailed(problem);
}

/** The timeout (ms) for reading an agent's types, so that code that loops does not delay the build for long. */
export const typesMs = 60_000;

/** Bundles the React components of the graph configuration's `ui` for browsers. */
export async function bundleUi({ file, config, program, run, log }: Preparation): Promise<StepResult<undefined>> {
  const names = Object.keys(config.ui ?? {});
  if (names.length === 0 || config.http?.disable_ui === true) return succeeded(undefined);
  log('info', `Bundling the UI: ${names.join(', ')}`);
  const end = await run(prepare('ui', file, program));
  if (end.kind === 'done') return succeeded(undefined);
  return stepFailed(end.kind === 'failed' ? describeFailure('`ui` of the graph configuration', end) : '');
}

/** Reads the schemas of graphs from their types in TypeScript. The agent runs without them: only a full disk fails. */
export async function readTypes({
  file,
  config,
  program,
  run,
  log,
  warn,
}: Preparation): Promise<StepResult<undefined>> {
  if (!graphLocations(config).some(({ file: graph }) => graphLanguage(graph) === 'typescript'))
    return succeeded(undefined);
  const end = await run({ ...prepare('schemas', file, program), silent: true });
  if (end.kind === 'done') for (const line of end.output) log('info', line);
  if (end.kind !== 'failed') return succeeded(undefined);
  const reason = describeFailure('Reading the types', end);
  if (isDiskFullMessage(reason)) return stepFailed(reason);
  warn(`Schemas of graphs annotated in TypeScript have names only. ${reason}`);
  return succeeded(undefined);
}

/**
 * Imports the graphs in Python once, so that their bytecode and schemas are there at the start, and refuses code that
 * no start could import. What may need the deployment's secrets, which a build has not, is left to the start.
 */
export async function importGraphs(
  { file, program, run, log, warn }: Omit<Preparation, 'config'>,
  python: string,
): Promise<StepResult<undefined>> {
  const end = await run({ ...prepare('python', file, program), env: { LANDFALL_PYTHON: python }, silent: true });
  if (end.kind === 'interrupted') return stepFailed('');
  const outcome = end.output.flatMap((line) => readImportOutcome(line) ?? [])[0];
  if (!outcome) {
    const reason =
      end.kind === 'failed' ? describeFailure('Importing the graphs', end) : 'Importing the graphs said nothing.';
    if (isDiskFullMessage(reason)) return stepFailed(reason);
    warn(`The graphs were not checked. ${reason}`);
    return succeeded(undefined);
  }
  if (outcome.ok) {
    log(
      'info',
      `Imported the graphs in Python; the schemas of these are kept: ${outcome.graphs.join(', ') || 'none'}.`,
    );
    return succeeded(undefined);
  }
  const problem = importProblem(outcome);
  for (const line of outcome.stack.split('\n')) if (line !== '') log(problem === undefined ? 'info' : 'error', line);
  if (problem !== undefined) return stepFailed(problem);
  log('info', `The graphs could not be imported without the deployment's secrets: ${outcome.message}`);
  return succeeded(undefined);
}

function prepare(
  what: 'ui' | 'schemas' | 'engines' | 'python',
  file: string,
  program: AgentProgramFiles | undefined,
): CommandSpec {
  const { node, agentServer } = program ?? { node: process.execPath, agentServer: agentServerPath() };
  return { command: node, args: [preparePath(agentServer), what, file], cwd: dirname(file) };
}
