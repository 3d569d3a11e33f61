// Deploys a pushed image from the Action and from the command line to our own control service.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { runCli, type CliEnd } from '../cli/run-cli.ts';
import { openServiceFixture, type ServiceFixture } from '../services/control/service-fixture.ts';

const main = join(import.meta.dirname, '../../dist/index.js');
const imageOf = (tag: string): string => `registry.example.com/team/agent:${tag}`;

let workspace: string;
let fixture: ServiceFixture;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'landfall-pushed-'));
  fixture = await openServiceFixture();
  // Whatever image is named runs at once.
  fixture.rollouts.wake = (deploymentId) => void goLive(deploymentId);
});
afterAll(async () => {
  await fixture?.close();
  await rm(workspace, { recursive: true, force: true });
});

async function goLive(deploymentId: string): Promise<void> {
  const { store } = fixture;
  const revision = await store.claimNextRevision(deploymentId);
  if (!revision) return;
  await store.setStatus(revision.id, ['AWAITING_BUILD'], 'BUILDING');
  await store.setStatus(revision.id, ['BUILDING'], 'AWAITING_DEPLOY');
  await store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOYING');
  await store.setDatabaseState(deploymentId, 'ready');
  await store.activate(deploymentId, revision.id);
}

const step = (name: string, tag: string): Promise<StepResult> =>
  runStep({
    main,
    workspace,
    inputs: {
      'base-url': fixture.baseUrl,
      'api-key': fixture.apiKey,
      name,
      source: 'internal_docker',
      'image-uri': imageOf(tag),
      'poll-seconds': '0.1',
    },
  });

const command = (name: string, tag: string): Promise<CliEnd> =>
  runCli(
    ['deploy', '--json', '--poll-seconds', '0.1']
      .concat(['--name', name, '--source', 'internal_docker'])
      .concat(['--image-uri', imageOf(tag)]),
    { cwd: workspace, env: { LANDFALL_BASE_URL: fixture.baseUrl, LANDFALL_API_KEY: fixture.apiKey } },
  );

/** The deployment of a name as the service has it, with the images of its revisions, newest first. */
async function kept(name: string) {
  const { resources } = await fixture.control.listDeployments({ name });
  const [deployment] = resources;
  const revisions = (await fixture.control.listRevisions(deployment?.id ?? '', {})).resources;
  return {
    source: deployment?.source,
    isLive: deployment?.active_revision_id === revisions[0]?.id,
    images: revisions.map(({ source_revision_config }) => source_revision_config.image_uri),
  };
}

test('the Action creates it, leaves it alone, and makes a revision of another tag', async () => {
  expect(await step('by-action', '1')).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deployed', plan: 'create', changed: 'true' },
  });
  expect(await kept('by-action')).toEqual({ source: 'internal_docker', isLive: true, images: [imageOf('1')] });
  const unchanged = { exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false' } };
  expect(await step('by-action', '1')).toMatchObject(unchanged);
  expect(await step('by-action', '2')).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch' } });
  expect(await step('by-action', '2')).toMatchObject(unchanged);
  const images = [imageOf('2'), imageOf('1')];
  expect(await kept('by-action')).toEqual({ source: 'internal_docker', isLive: true, images });
});

test('the command line does the same', async () => {
  const outcomes = [];
  for (const tag of ['1', '1', '2', '2']) {
    const end = await command('by-command', tag);
    expect(end).toMatchObject({ code: 0 });
    const { outcome, changed }: { outcome?: unknown; changed?: unknown } = JSON.parse(end.out);
    outcomes.push([outcome, changed]);
  }
  expect(outcomes).toEqual([
    ['deployed', true],
    ['unchanged', false],
    ['deployed', true],
    ['unchanged', false],
  ]);
  const images = [imageOf('2'), imageOf('1')];
  expect(await kept('by-command')).toEqual({ source: 'internal_docker', isLive: true, images });
});
