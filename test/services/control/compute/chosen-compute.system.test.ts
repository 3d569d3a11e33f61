import { createAgentTokens } from '../../../../src/services/control/compute/agent-tokens.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { computeByProgram, localCompute } from '../../../../src/services/control/compute/local-compute.ts';
import type { AgentProgram, AgentStart, Compute } from '../../../../src/services/control/compute/compute.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { temporaryFolder } from '../builds/repositories.ts';
import { imageSpec, standIn } from './container/stand-in.ts';

const never = new AbortController().signal;

/** A compute that only records its name. */
const named = (name: string, removed: string[]): Compute => ({
  start: async (): Promise<AgentStart> => ({ kind: 'failed', reason: name }),
  remove: async ({ id }) => void removed.push(`${id} from ${name}`),
});

test.each<[string, AgentProgram, string]>([
  ['a build', { kind: 'build', sourceText: 'x', folder: '/', graphConfigFile: '/x', homeFolder: '/h' }, 'builds'],
  ['an image', { kind: 'image', imageUri: 'agent' }, 'images'],
])('runs %s on the compute for its kind', async (_, program, by) => {
  const removed: string[] = [];
  const compute = computeByProgram({ builds: named('builds', removed), images: named('images', removed) });
  expect(await compute.start({ ...imageSpec('agent', ''), program }, never)).toEqual({ kind: 'failed', reason: by });
});

test('removes a deployment from both computes, but once when they are the same', async () => {
  const removed: string[] = [];
  const [builds, images] = [named('builds', removed), named('images', removed)];
  const gone = { id: 'd', name: 'd', namespace: undefined };
  await computeByProgram({ builds, images }).remove?.(gone);
  await computeByProgram({ builds, images: builds }).remove?.(gone);
  expect(removed).toEqual(['d from builds', 'd from images', 'd from builds']);
});

test('a service that runs builds in containers does not start without an engine', async () => {
  const undo: (() => void)[] = [];
  const dataDir = temporaryFolder(undo);
  const engine = standIn();
  engine.is('silent');
  const store = { agentUser: async () => 0, agentUids: async () => [] };
  const settings = {
    given: undefined,
    issueToken: createAgentTokens().issue,
    agentServer: undefined,
    dataDir,
    env: engine.env,
    store,
    clock: systemClock,
  };
  const open = (kind: 'process' | 'container') =>
    localCompute({ ...settings, choice: { kind, engine: engine.command }, log: silentLogger });
  await expect(open('container')).rejects.toThrow(/can't run containers: .*does not answer/);
  const opened = await open('process');
  expect(await opened.compute.start(imageSpec('agent', 'postgres://u:p@h/d'), never)).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('does not answer'),
  });
  await opened.close();
  await removeIsolated(dataDir);
  engine.remove();
  for (const remove of undo) remove();
});
