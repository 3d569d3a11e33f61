import { fileURLToPath } from 'node:url';

/** The file that runs one revision's agent: a source file of the agent server, or the bundle beside this file. */
export function agentServerPath(here: string = import.meta.url): string {
  const there = here.endsWith('.ts') ? '../../agent-server/main.ts' : './agent-server.js';
  return fileURLToPath(new URL(there, here));
}
