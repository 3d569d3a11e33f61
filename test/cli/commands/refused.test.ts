import { describe, expect, onTestFinished, test } from 'vitest';
import { revisionId } from '../../client/stand-in.ts';
import { folderOf, runHere } from '../run-cli.ts';
import { startStandIn } from './stand-in-service.ts';

const missing = '0c1d2e3f-0000-4000-8000-0000000000ff';

test.each([
  [['ask'], 'Give a question'],
  [['logs', '--build', '--agent'], 'are two logs'],
  [['login', 'nowhere'], 'this is not an address'],
  [['login', 'https://host.test', '--service', '\u001b[31m'], '--service takes a name'],
  [['login', 'https://host.test', '--service', '__proto__'], '--service takes a name'],
])('%j is refused as JSON', async (args, said) => {
  const { env } = await startStandIn({});
  const end = await runHere([...args, '--json'], { env });
  expect(end.code).toBe(2);
  expect(JSON.parse(end.out)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining(said) });
});

test.each(['toString', 'constructor', 'valueOf'])('no login is called %s', async (name) => {
  const { path, remove } = folderOf({});
  onTestFinished(remove);
  const env = { XDG_CONFIG_HOME: path };
  const none = `There is no login for the service ${name}.`;
  expect(await runHere(['services', 'use', name], { env })).toMatchObject({
    code: 1,
    err: expect.stringContaining(none),
  });
  expect(await runHere(['logout', '--service', name], { env })).toMatchObject({
    code: 1,
    err: expect.stringContaining(none),
  });
  expect(await runHere(['list', '--service', name], { env })).toMatchObject({
    code: 2,
    err: expect.stringContaining(none),
  });
});

describe('redeploy refuses', () => {
  test('a revision that is not there', async () => {
    const { env } = await startStandIn({});
    const { code, err } = await runHere(['redeploy', 'support', '--revision', missing], { env });
    expect(code).toBe(1);
    expect(err).toContain(`Deployment support has no revision ${missing}.\nWhat to do: landfall revisions support`);
  });

  test('to replace a revision that is on its way, unless one is named', async () => {
    const deployment = { active_revision_id: missing };
    const { env, requests } = await startStandIn({ deployment, revision: { status: 'BUILDING' } });
    const { code, err } = await runHere(['redeploy', 'support'], { env });
    expect(code).toBe(1);
    expect(err).toContain(`Revision ${revisionId} is on its way`);
    expect(requests.filter(({ path }) => path.endsWith('/redeploy'))).toEqual([]);
  });
});
