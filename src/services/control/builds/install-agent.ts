import { dirname } from 'node:path';
import { packagesNeeded } from '../../../agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { stepFailed, succeeded, type PythonEnvironment, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { install } from './install.ts';
import { checkEngines } from './prepare-agent.ts';
import { checkInstalledPackages, emptyEnvironment, installPython } from './python/install-python.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';

interface Agent {
  /** The root of its source, a real path. */
  source: string;
  /** Its graph configuration file, and the content of the file. */
  file: string;
  config: GraphConfig;
  program: AgentProgramFiles | undefined;
}

/**
 * Installs the packages of an agent, for Node.js and for Python where it has code in the language, and refuses engines
 * that can't run. An install command installs both: its path has an empty Python environment.
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
    const environment = isByCommand
      ? await emptyEnvironment(config, running)
      : await installPython({ source, configFolder }, config, running);
    if (!environment.ok || signal.aborted) return environment.ok ? stepFailed('') : environment;
    python = environment.value;
  }
  if (needs.node || isByCommand || !needs.python) {
    const installed = await install(source, configFolder, running);
    if (!installed.ok || signal.aborted) return installed.ok ? stepFailed('') : installed;
  }
  await running.giveSource();
  if (needs.python && isByCommand) {
    const checked = await checkInstalledPackages(running);
    if (!checked.ok) return checked;
  }
  if (needs.node || !needs.python) {
    const checked = await checkEngines({ file, program, run });
    if (!checked.ok) return checked;
  }
  return succeeded(python === undefined ? {} : { python });
}
