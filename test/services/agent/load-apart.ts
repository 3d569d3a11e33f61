/**
 * Loads each graph of a configuration file, and each further export named on the command line (`field=./file.ts:name`),
 * one after the other in one process, outside of the test runner's module loader. Prints what became of each as JSON.
 */
import { systemClock } from '../../../src/kit/clock.ts';
import { agentExport } from '../../../src/services/agent/graphs/javascript/agent-export.ts';
import { readConfiguration } from '../../../src/services/agent/configuration.ts';
import { loadGraphs } from '../../../src/services/agent/graphs/javascript/load.ts';
import { StartupError } from '../../../src/services/agent/startup-error.ts';
import { loggerTo } from '../../logger.ts';

const [, , configPath = '', ...others] = process.argv;
const log = loggerTo(() => {});
const configuration = readConfiguration(configPath, log);
const results: Record<string, string> = {};

async function record(name: string, load: () => Promise<unknown>): Promise<void> {
  results[name] = await load().then(
    () => 'loaded',
    (error: unknown) => (error instanceof StartupError ? error.lines.join('\n') : String(error)),
  );
}

for (const place of configuration.places)
  await record(place.graphId, () => loadGraphs([place], configPath, { log, clock: systemClock }));
for (const other of others) {
  const [name = '', named = ''] = other.split('=');
  await record(name, () => agentExport(configuration, name.split('.'), named, configPath));
}
process.stdout.write(JSON.stringify(results), () => process.exit());
