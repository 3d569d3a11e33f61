import { dirname } from 'node:path';
import { packagesNeeded } from '../../../agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { stepFailed, succeeded, type PythonEnvironment, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { install } from './install.ts';
import { checkEngines } from './prepare-agent.ts';
import { checkFilled, emptyEnvironment, installPython } from './python/install-python.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';

interface Agent {
  /** The root of its source, a real path. */
  source: string;
  /** Its graph configuration: the file, and what it holds. */
  file: string;
  config: GraphConfig;
  program: AgentProgramFiles | undefined;
}

/**
 * Installs the packages of an agent, those of Node.js and of Python where it has code in the language, and refuses
 * engines that can't run. An install command installs both: it finds an empty environment of Python on its path.
 */
export async function installAgent(
  { source, file, config, program }: Agent,
  running: RunningBuild,
): Promise<StepResult<{ python?: PythonEnvironment }>> {
  const { request, run, signal } = running;
  const needs = packagesNeeded(config);
  const configFolder = dirname(file);
  const isByCommand = request.installCommand !== undefined;
  let python: PythonEnvironment | undefined;
  if (needs.python) {
    const made = isByCommand
      ? await emptyEnvironment(config, running)
      : await installPython({ source, configFolder }, config, running);
    if (!made.ok || signal.aborted) return made.ok ? stepFailed('') : made;
    python = made.value;
  }
  if (needs.node || isByCommand || !needs.python) {
    const installed = await install(source, configFolder, running);
    if (!installed.ok || signal.aborted) return installed.ok ? stepFailed('') : installed;
  }
  await running.giveSource();
  if (needs.python && isByCommand) {
    const checked = await checkFilled(running);
    if (!checked.ok) return checked;
  }
  if (needs.node || !needs.python) {
    const checked = await checkEngines({ file, program, run });
    if (!checked.ok) return checked;
  }
  return succeeded(python === undefined ? {} : { python });
}
