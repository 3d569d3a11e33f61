import { dirname } from 'node:path';
import type { GraphConfig } from '../../graph-config/schema.ts';
import { agentServerPath, preparePath } from '../compute/agent-environment.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import { failure, type RunCommand } from './run-command.ts';

interface Preparing {
  /** The graph configuration file, and what it holds. */
  file: string;
  config: GraphConfig;
  program: AgentProgramFiles | undefined;
  run: RunCommand;
  log: WriteLine;
}

/** Bundles the React components of the graph configuration's `ui` for browsers, which run the code of the source. */
export async function bundleUi({ file, config, program, run, log }: Preparing): Promise<StepResult<undefined>> {
  const names = Object.keys(config.ui ?? {});
  if (names.length === 0 || config.http?.disable_ui === true) return succeeded(undefined);
  log('info', `Bundling the UI: ${names.join(', ')}`);
  const { node, agentServer } = program ?? { node: process.execPath, agentServer: agentServerPath() };
  const end = await run({ command: node, args: [preparePath(agentServer), 'ui', file], cwd: dirname(file) });
  if (end.kind === 'done') return succeeded(undefined);
  return stepFailed(end.kind === 'failed' ? failure('`ui` of the graph configuration', end) : '');
}
