import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeIsolated } from '../control-service/isolation/isolation.ts';
import { removeEmbeddedData } from '../postgres/remove-embedded.ts';

/** What the demo created. */
export interface Made {
  /** What was started, in its order. What is ended is taken out, so that nothing is ended twice. */
  running: { stop(): Promise<void> }[];
  /** The folder that all lies in. */
  folder: string;
  /** The data folder of the services, below which builds lie. */
  data: string;
  /** The data folder of the App. */
  appData: string;
}

/**
 * Ends what runs, the last started first, and removes every folder. Thousands of files of packages were copied into builds, so
 * that the latter takes a while: `log` gets a line before each part.
 */
export async function cleanUp({ running, folder, data, appData }: Made, log: (text: string) => void): Promise<void> {
  log('Ending what was started: the App, the services with their agents, GitHub ...');
  for (const each of running.splice(0).reverse()) await each.stop();
  log('Removing what they made: the builds with all their packages, which takes a minute or more ...');
  // As root the databases and builds are in other folders, where a person would not look for them.
  await removeIsolated(data);
  log(`Removing the databases and ${folder} ...`);
  for (const each of [data, appData]) {
    await removeEmbeddedData({ dataDir: join(each, 'postgres'), log: () => undefined });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
