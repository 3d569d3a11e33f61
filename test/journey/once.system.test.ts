// One cause makes at most one revision, also with concurrent steps and lost responses.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from './cutting-proxy.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
const proxies: CuttingProxy[] = [];

beforeAll(async () => {
  fixture = await openJourneyFixture();
});
afterAll(async () => {
  for (const each of proxies) await each.close();
  await fixture?.close();
});

async function proxy(fateOf: (request: string) => Fate | Promise<Fate>): Promise<CuttingProxy> {
  const opened = await startCuttingProxy(fixture.service.url, fateOf);
  proxies.push(opened);
  return opened;
}

const writes = ({ requests }: CuttingProxy, method: string): number =>
  requests.filter((request) => request.startsWith(`${method} /v2/deployments`)).length;

describe('two steps at the same moment', () => {
  let repository: Repository;
  /** A proxy that holds two writes until both have arrived: both steps decide before either takes effect. */
  let meeting: CuttingProxy;

  beforeAll(async () => {
    repository = await fixture.repository('talker');
    let waiting: (() => void) | undefined;
    meeting = await proxy(async (request): Promise<Fate> => {
      if (!/^(PATCH|POST) \/v2/.test(request)) return 'passes';
      const other = waiting;
      waiting = undefined;
      if (other) other();
      else await new Promise<void>((resolve) => (waiting = resolve));
      return 'passes';
    });
  });

  async function twoSteps(): Promise<StepResult> {
    const step = (): Promise<StepResult> => fixture.step(repository, { baseUrl: meeting.url });
    const [one, other] = await Promise.all([step(), step()]);
    const deployed = { exitCode: 0, outputs: { outcome: 'deployed', 'revision-id': one.outputs['revision-id'] } };
    expect([one, other]).toMatchObject([deployed, deployed]);
    expect([one, other].filter(({ outputs }) => outputs['changed'] === 'true')).toHaveLength(1);
    expect([one, other].filter(({ log }) => log.includes(': adopted'))).toHaveLength(1);
    return one;
  }

  test('that create one deployment make one revision between them', async () => {
    const { outputs } = await twoSteps();
    expect(await fixture.revisions(outputs['deployment-id'])).toHaveLength(1);
  });

  test('that deploy one commit: one makes the revision, the other adopts it', async () => {
    await repository.edit('graph.ts', "'first'", "'second'");
    const commit = await repository.commit('Say something else');
    const { outputs } = await twoSteps();
    const [newest, ...older] = await fixture.revisions(outputs['deployment-id']);
    expect(older).toHaveLength(1);
    expect(newest).toMatchObject({ status: 'DEPLOYED', source_revision_config: { repo_commit_sha: commit } });
    expect(await fixture.ask(outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
  });

  test('and one more a moment later, which changes nothing', async () => {
    const again = await fixture.step(repository);
    expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false', plan: 'none' } });
    expect(await fixture.revisions(again.outputs['deployment-id'])).toHaveLength(2);
  });

  test('rebuild: always builds a commit again that is live', async () => {
    const step = await fixture.step(repository, { inputs: { rebuild: 'always' } });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch', changed: 'true' } });
    const revisions = await fixture.revisions(step.outputs['deployment-id']);
    const [newest, former] = revisions.map((revision) => revision.source_revision_config.repo_commit_sha);
    expect(revisions).toHaveLength(3);
    expect(newest).toBe(former);
  });

  test('rebuild: never leaves a new commit where it is', async () => {
    await repository.edit('graph.ts', "'second'", "'third'");
    await repository.commit('Not to be deployed yet');
    const step = await fixture.step(repository, { inputs: { rebuild: 'never' } });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', plan: 'none', changed: 'false' } });
    expect(await fixture.revisions(step.outputs['deployment-id'])).toHaveLength(3);
    expect(await fixture.ask(step.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
  });
});

describe('a lost response', () => {
  let repository: Repository;
  let lossy: CuttingProxy;
  /** The response to the first one is lost. */
  let lost: RegExp | undefined = /^POST \/v2\/deployments$/;

  beforeAll(async () => {
    repository = await fixture.repository('talker', 'lossy');
    lossy = await proxy((request) => {
      if (!lost?.test(request)) return 'passes';
      lost = undefined;
      return 'answer lost';
    });
  });

  test('to a creation: sends it again under its key, which makes one deployment', async () => {
    const step = await fixture.step(repository, { baseUrl: lossy.url });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'create', changed: 'true' } });
    expect(writes(lossy, 'POST')).toBe(2);
    const revisions = await fixture.revisions(step.outputs['deployment-id']);
    expect(revisions.map(({ id }) => id)).toEqual([step.outputs['revision-id']]);
  });

  test('to a change: sends it again under its key, which makes one revision', async () => {
    await repository.edit('graph.ts', "'first'", "'second'");
    const commit = await repository.commit('Say something else');
    lost = /^PATCH /;
    const step = await fixture.step(repository, { baseUrl: lossy.url });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch', changed: 'true' } });
    expect(writes(lossy, 'PATCH')).toBe(2);
    const [newest, ...older] = await fixture.revisions(step.outputs['deployment-id']);
    expect(older).toHaveLength(1);
    expect(newest).toMatchObject({
      id: step.outputs['revision-id'],
      status: 'DEPLOYED',
      source_revision_config: { repo_commit_sha: commit },
    });
    expect(await fixture.ask(step.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
  });
});
