import { StartupError } from '../startup-error.ts';
import type { Hello } from './headers.ts';

/** The oldest langgraph that a worker can use. */
const oldestEngine = [0, 6] as const;

/** @throws StartupError for an engine that is missing or too old. */
export function supportedEngine({ engine }: Hello): string {
  if (engine === null) {
    const advice = 'Add langgraph to the dependencies of the graph configuration file.';
    throw new StartupError('engine-missing', [`The agent's Python packages have no langgraph. ${advice}`]);
  }
  const [major = 0, minor = 0] = engine.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestEngine;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return engine;
  const advice = `Require langgraph>=${oldestEngine.join('.')} in the agent's packages.`;
  throw new StartupError('engine-too-old', [
    `The agent's langgraph is ${engine}, and the oldest that can run here is ${oldestEngine.join('.')}. ${advice}`,
  ]);
}
