import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
/** On this way the service answers in the public spelling, as the public service does. */
let inPublic: CuttingProxy;

beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker');
  inPublic = await startCuttingProxy(fixture.service.url, () => 'passes', { 'x-field-names': 'public' });
});
afterAll(async () => {
  await inPublic?.close();
  await fixture?.close();
});

test('a deployment is created in the public spelling by a service that answers in it', async () => {
  const step = await fixture.step(repository, { baseUrl: inPublic.url, inputs: { 'field-names': 'public' } });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'create' } });
  expect(inPublic.bodies.filter((body) => body.includes('"langgraph_config_path":"langgraph.json"'))).toHaveLength(1);
  expect(inPublic.bodies.filter((body) => body.includes('"graph_config_path"'))).toEqual([]);
  expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ said: 'first you' });
});

test.each([
  ['sent and answered as the contract spells it', false, 'contract'],
  ['sent as the contract spells it, answered as the public service does', true, 'contract'],
  ['sent as the public service spells it, answered as the contract does', false, 'public'],
])('the same is seen, %s', async (_, answeredInPublic, names) => {
  const step = await fixture.step(repository, {
    ...(answeredInPublic ? { baseUrl: inPublic.url } : {}),
    inputs: { 'field-names': names },
  });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', plan: 'none' } });
});
