import { loggerTo } from '../logger.ts';
/**
 * Loads the graphs of each configuration file named on the command line, outside of the test runner's module loader,
 * and prints a JSON line for each: the graphs, or why they can't be loaded.
 */
import { systemClock } from '../../src/clock.ts';
import { readConfiguration } from '../../src/agent-server/configuration.ts';
import { loadGraphs } from '../../src/agent-server/graphs/load.ts';
import { StartupError, startupLines } from '../../src/agent-server/startup-error.ts';

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
