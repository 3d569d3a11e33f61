import { loggerTo } from '../../logger.ts';
/**
 * Loads the graphs of each configuration file named on the command line, outside of the test runner's module loader,
 * and prints a JSON line for each: the graphs, or why they can't be loaded.
 */
import { systemClock } from '../../../src/kit/clock.ts';
import { readConfiguration } from '../../../src/services/agent/configuration.ts';
import { loadGraphs } from '../../../src/services/agent/graphs/javascript/load.ts';
import { StartupError, startupLines } from '../../../src/services/agent/startup-error.ts';

for (const configPath of process.argv.slice(2)) {
  const warnings: string[] = [];
  try {
    const { places } = readConfiguration(
      configPath,
      loggerTo((line) => warnings.push(line)),
    );
    const graphs = await loadGraphs(places, configPath, {
      log: loggerTo((line) => warnings.push(line)),
      clock: systemClock,
    });
    console.log(JSON.stringify({ graphs: graphs.map(({ graphId }) => graphId), warnings }));
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    console.log(JSON.stringify({ lines: startupLines(error), warnings }));
  }
}
