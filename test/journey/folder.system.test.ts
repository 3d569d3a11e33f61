// A folder is deployed, changed, rolled back and deleted: by the Action on the real service.
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let workspace = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  workspace = join(fixture.folder, 'workspace');
  await cp(join(import.meta.dirname, 'agents/talker'), join(workspace, 'agent'), { recursive: true });
  await writeFile(join(workspace, 'agent/link.mjs'), linkScript);
  await writeFile(join(workspace, 'agent/.env'), 'KEY=stays-at-home');
});
afterAll(() => fixture?.close());

const step = (inputs: Record<string, string> = {}): Promise<StepResult> =>
  runStep({
    main: join(root, 'dist/index.js'),
    workspace,
    inputs: {
      'base-url': fixture.service.url,
      'api-key': fixture.service.apiKey,
      name: 'from-a-folder',
      'source-dir': 'agent',
      'graph-config-path': 'langgraph.json',
      'install-command': linkPackages,
      'poll-seconds': '0.2',
      'timeout-minutes': '2',
      ...inputs,
    },
  });

const edit = async (from: string, to: string): Promise<void> => {
  const path = join(workspace, 'agent/graph.ts');
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replaceAll(from, to));
};

let deployed: StepResult['outputs'] = {};

test('uploads and builds a folder; the revision that waited for it is replaced', async () => {
  const first = await step();
  expect(first).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'create' } });
  deployed = first.outputs;
  const statuses = (await fixture.revisions(deployed['deployment-id'])).map(({ status }) => status);
  expect(statuses).toEqual(['DEPLOYED', 'SKIPPED']);
  expect(await fixture.ask(deployed['deployment-url'], 'you')).toMatchObject({ said: 'first you' });
});

test('leaves an unchanged folder alone, by the digest that the service reports', async () => {
  const again = await step();
  expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false' } });
  expect(await fixture.revisions(deployed['deployment-id'])).toHaveLength(2);
});

test('makes one revision of new content, and a rollback restores the former one', async () => {
  await edit("'first'", "'second'");
  expect(await step()).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch' } });
  expect(await fixture.ask(deployed['deployment-url'], 'you')).toMatchObject({ said: 'second you' });
  expect(await step({ mode: 'rollback' })).toMatchObject({ exitCode: 0, outputs: { outcome: 'rolled-back' } });
  expect(await fixture.ask(deployed['deployment-url'], 'you')).toMatchObject({ said: 'first you' });
});

test('deletes everything, and the name is free again', async () => {
  const id = deployed['deployment-id'] ?? '';
  expect(await step({ mode: 'delete', 'dry-run': 'true' })).toMatchObject({ outputs: { outcome: 'planned' } });
  await fixture.control.getDeployment(id);
  expect(await step({ mode: 'delete' })).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deleted', changed: 'true' },
  });
  await expect(fixture.control.getDeployment(id)).rejects.toMatchObject({ kind: 'missing' });
  expect(await step({ mode: 'delete' })).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deleted', changed: 'false' },
  });
  expect(await step()).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'create' } });
});
