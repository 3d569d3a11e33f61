import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { AgentSpec, Compute } from '../../../../src/services/control/compute/compute.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { agentVersion, tagOf } from '../../../../src/services/control/rollouts/roll-out-revision.ts';
import { fakeAgent } from '../compute/agents.ts';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  history,
  openMachine,
  overHttp,
  startService,
  secretsOf,
  type RunningService,
} from './running-service.ts';

/** What was started, in order. */
const started: AgentSpec[] = [];

/** Runs "images" by starting the fake agent instead. */
function imageCompute(folder: string): Compute {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'langgraph.json'), '{}');
  const processes = processCompute({ clock: systemClock, agentServer: fakeAgent, drainMs: 1_000 });
  return {
    ...processes,
    start(spec, signal) {
      started.push(spec);
      const { program } = spec;
      const config = join(folder, 'langgraph.json');
      const build = { kind: 'build', sourceText: 'x', folder, graphConfigFile: config, homeFolder: folder } as const;
      return processes.start({ ...spec, program: program.kind === 'image' ? build : program }, signal);
    },
  };
}

let opened: RunningService;
beforeAll(async () => {
  const machine = await openMachine();
  opened = overHttp(await startService(machine, { compute: imageCompute(join(machine.root, 'image')) }));
});
afterAll(closeAll);

let names = 0;
const pushed = (more: { image?: string; type?: string; secrets?: Record<string, string> } = {}) => ({
  name: `pushed-${(names += 1)}`,
  source: 'internal_docker' as const,
  source_config: {},
  source_revision_config: more.image === undefined ? {} : { image_uri: more.image },
  secrets: secretsOf(more.secrets ?? {}),
});

describe('over HTTP', () => {
  test(
    'runs an image that was pushed and is named afterwards',
    { meta: { claims: ['control.internal-docker.accepted'] } },
    async () => {
      const { control } = opened;
      const { id, url, latest_revision_id: first } = await control.createDeployment(pushed());
      const waiting = await control.getRevision(id, first ?? '');
      expect([waiting.status, waiting.status_message]).toEqual([
        'CREATING',
        expect.stringContaining('waits for an image'),
      ]);
      await expect(control.redeployRevision(id, first ?? '')).rejects.toThrow(
        /has no image that could be deployed again/,
      );
      const named = { source_revision_config: { image_uri: 'registry.example.com/team/agent:1.4' } };
      const revisionId = (await control.patchDeployment(id, named)).latest_revision_id ?? '';
      await goesLive(opened, { id, revisionId });
      expect(await answering(url ?? '')).toBe(revisionId);
      expect(started.at(-1)).toMatchObject({
        revisionId,
        program: { kind: 'image', imageUri: 'registry.example.com/team/agent:1.4' },
      });
      expect(await history(opened, first ?? '')).toEqual(['CREATING', 'SKIPPED']);
      expect(await control.getRevision(id, revisionId)).toMatchObject({
        source: 'internal_docker',
        status_message: null,
      });
    },
  );

  test(
    'runs the image named at creation, and redeploys an earlier one',
    { meta: { claims: ['control.service.source-image'] } },
    async () => {
      const { control } = opened;
      const made = await control.createDeployment(pushed({ image: 'registry.example.com/a:1' }));
      const first = made.latest_revision_id ?? '';
      await goesLive(opened, { id: made.id, revisionId: first });
      const next = await control.patchDeployment(made.id, {
        source_revision_config: { image_uri: 'registry.example.com/a:2' },
      });
      await goesLive(opened, { id: made.id, revisionId: next.latest_revision_id ?? '' });
      const back = await control.redeployRevision(made.id, first);
      expect(back.source_revision_config.image_uri).toBe('registry.example.com/a:1');
      await goesLive(opened, { id: made.id, revisionId: back.latest_revision_id ?? '' });
      expect(started.at(-1)?.program).toEqual({ kind: 'image', imageUri: 'registry.example.com/a:1' });
    },
  );

  test('image_version is null until a revision is live, then what the agent reports', async () => {
    const { control } = opened;
    const made = await control.createDeployment(pushed({ image: 'registry.example.com/a:1' }));
    expect(made.image_version).toBeNull();
    await goesLive(opened, { id: made.id, revisionId: made.latest_revision_id ?? '' });
    expect((await control.getDeployment(made.id)).image_version).toBe('1.2.3');
    const next = await control.patchDeployment(made.id, { secrets: secretsOf({ FAKE_VERSION: '2.0.0' }) });
    await goesLive(opened, { id: made.id, revisionId: next.latest_revision_id ?? '' });
    expect((await control.getDeployment(made.id)).image_version).toBe('2.0.0');
    const broken = await control.patchDeployment(made.id, { secrets: secretsOf({ FAKE_VERSION: 'two words' }) });
    await goesLive(opened, { id: made.id, revisionId: broken.latest_revision_id ?? '' });
    expect((await control.getDeployment(made.id)).image_version).toBe('1');
    const { resources } = await control.listDeployments({ image_version: '1' });
    expect(resources.map(({ id }) => id)).toContain(made.id);
  });

  test('deployment_type reaches the agent, is returned and can be filtered by', async () => {
    const { id, revisionId } = await deploy(opened, { config: { deployment_type: 'dev' } });
    await goesLive(opened, { id, revisionId });
    expect(started.at(-1)?.deploymentType).toBe('dev');
    expect((await opened.control.getDeployment(id)).source_config.deployment_type).toBe('dev');
    const { resources } = await opened.control.listDeployments({ deployment_type: 'dev' });
    expect(resources.map((found) => found.id)).toContain(id);
    const other = await deploy(opened);
    await goesLive(opened, other);
    expect(started.at(-1)?.deploymentType).toBeUndefined();
    expect((await opened.control.getDeployment(other.id)).source_config.deployment_type).toBeNull();
  });
});

test.each([
  ['registry.example.com/team/agent:1.4', '1.4'],
  ['agent:latest', 'latest'],
  ['localhost:5000/agent', null],
  ['localhost:5000/agent:2', '2'],
  ['agent', null],
  [`agent:3@sha256:${'0'.repeat(64)}`, '3'],
  [`agent@sha256:${'0'.repeat(64)}`, null],
])('the tag of %s is %s', (image, tag) => expect(tagOf(image)).toBe(tag));

test('an agent that does not report its version delays nothing for long', async () => {
  const clock = { now: () => 0, sleep: async () => {} };
  const unknownAgent = { origin: 'http://127.0.0.1:1', token: 'x' };
  const build = { kind: 'build', sourceText: '', folder: '', graphConfigFile: '', homeFolder: '' } as const;
  expect(await agentVersion(unknownAgent, build, clock)).toBeNull();
  expect(await agentVersion(unknownAgent, { kind: 'image', imageUri: 'a:7' }, clock)).toBe('7');
});
