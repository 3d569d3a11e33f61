import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outputs } from '../rolldown.config.ts';
import { buildInto } from './build.ts';

const root = dirname(import.meta.dirname);

/** Builds the agent server into a new folder, as in an installed package. Returns the file to run. */
export async function buildAgentServer(folder: string): Promise<string> {
  for (const name of ['node_modules', 'python']) symlinkSync(join(root, name), join(folder, name));
  await buildInto(folder, 'agent');
  return join(outputs(folder).agent, 'agent-server.js');
}
