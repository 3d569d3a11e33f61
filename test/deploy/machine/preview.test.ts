import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { AgentModel, says } from '../smoke/agent-model.ts';
import { goesLive, serviceError } from './control-model.ts';
import { built, DeployFixture, first, github, hello, running, type RunOfTest } from './deploy-fixture.ts';

const key = { repositoryId: 4711, number: 12, entry: 'agent' };
const name = previewName(key);
const secrets = [{ name: 'LANDFALL_PREVIEW', value: markOf(key) }];
const desired = { ...github, name, secrets, secretsStrategy: 'overwrite' } as const;
const previewRun = { key, production: { name: 'agent' } };

const live: Deployment = {
  ...built,
  id: 'production',
  tenant_id: 't1',
  created_at: '',
  updated_at: '',
  status: 'READY',
  url: 'https://production.test',
  latest_revision_id: 'p1',
  active_revision_id: 'p1',
};

const withSecrets = async (theirs: Deployment['secrets']): Promise<DeployFixture> => {
  const fixture = new DeployFixture();
  fixture.control.has({ ...built, name, secrets: [] }, goesLive(first));
  await fixture.passes(60_000);
  if (fixture.control.service.deployment) fixture.control.service.deployment.secrets = theirs;
  return fixture;
};

describe.each<[sentence: string, theirs: Deployment['secrets']]>([
  ['without a mark', [{ name: 'TOKEN', value: 'x' }]],
  ['with the mark of another pull request', [{ name: 'LANDFALL_PREVIEW', value: markOf({ ...key, number: 13 }) }]],
  ['with the mark of another repository', [{ name: 'LANDFALL_PREVIEW', value: markOf({ ...key, repositoryId: 1 }) }]],
  ['whose secrets are not listed', undefined],
])('a deployment of its name %s', (_, theirs) => {
  const refused = { kind: 'refused', passes: false, changed: false };
  const reason = expect.stringContaining('is not the preview of this pull request');

  test('is not changed', async () => {
    const fixture = await withSecrets(theirs);
    expect(await fixture.deploy({ desired, previewRun })).toMatchObject({ ...refused, reason });
    expect(fixture.control.sent).toEqual([]);
  });

  test('is not deleted', async () => {
    const fixture = await withSecrets(theirs);
    const request: RunOfTest = { mode: 'delete', desired, previewRun, further: fixture.control };
    expect(await fixture.deploy(request)).toMatchObject({ ...refused, reason });
    expect(fixture.control.deleted).toEqual([]);
  });
});

test('its own deployment is deleted', async () => {
  const fixture = await withSecrets(secrets);
  const request: RunOfTest = { mode: 'delete', desired, previewRun, further: fixture.control };
  expect(await fixture.deploy(request)).toMatchObject({ kind: 'deleted', changed: true });
});

describe('tests against the live revision', () => {
  const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
  const smokeTests = [{ ...hello, series }];

  /** A fixture with a live production agent beside the agent of the preview. */
  async function beside(fixture = new DeployFixture()) {
    const production = new AgentModel(fixture.clock, says('hello'));
    fixture.control.others.push(live);
    const agentAt = (url: string) => (url === live.url ? production : fixture.agent);
    const agentUrl = 'https://preview.test';
    const deploy = (more: RunOfTest = {}) =>
      fixture.deploy({ desired, previewRun, smokeTests, agentAt, agentUrl, verify: 'after-traffic', ...more });
    fixture.control.scripts.push(goesLive(first));
    return { fixture, production, deploy };
  }

  test('compare a new preview with the live agent of production', async () => {
    const { fixture, production, deploy } = await beside();
    const outcome = await deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', verdict: { kind: 'passed' }, deploymentName: name });
    expect([production.requested.length, fixture.agent.requested.length]).toEqual([31, 31]);
  });

  test('say that a preview is worse, and leave it there', async () => {
    const { fixture, deploy } = await beside();
    fixture.agent.answers = [says('good bye')];
    expect(await deploy()).toMatchObject({ kind: 'broken', verdict: { kind: 'failed' } });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('never compare with the former commit of the preview', async () => {
    const fixture = await withSecrets(secrets);
    const { production, deploy } = await beside(fixture);
    const outcome = await deploy({ desired: { ...desired, rebuild: 'always' } });
    expect(outcome).toMatchObject({
      verdict: { kind: 'passed', tests: [{ verdict: { comparison: { isBeside: true } } }] },
    });
    expect(production.requested).toHaveLength(31);
    expect(fixture.events.map(({ kind }) => kind)).not.toContain('measuring-live');
  });

  test('ask for one right answer where production has none to compare with', async () => {
    const { fixture, production, deploy } = await beside();
    fixture.control.others = [];
    expect(await deploy()).toMatchObject({ kind: 'deployed', verdict: { kind: 'passed' } });
    expect([production.requested.length, fixture.agent.requested.length]).toEqual([0, 1]);
  });

  test('go on where production could not be read, and say so', async () => {
    const { fixture, deploy } = await beside();
    fixture.control.onWrite = () => fixture.control.fails('list', serviceError('unreachable', 'list deployments'));
    const outcome = await deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', verdict: { kind: 'passed' } });
    expect(outcome.notes.join(' ')).toContain('that this is a preview of could not be read');
  });

  test('never show a secret of production', async () => {
    const { fixture, production, deploy } = await beside();
    production.answers = [says('canary-of-the-service')];
    fixture.agent.answers = [says('canary-of-the-service')];
    const outcome = await deploy({ smokeTests: [{ ...hello, series }] });
    expect(JSON.stringify([outcome, fixture.events])).not.toContain('canary-of-the-service');
    expect(fixture.masked).toContain('canary-of-the-service');
  });
});

test('without a preview run nothing is looked up beside the deployment', async () => {
  const fixture = await running();
  await fixture.deploy({ smokeTests: [hello] });
  expect(fixture.control.count('list')).toBe(1);
});

describe('the commit of a pull request', () => {
  const commit = first;
  const request = { desired, previewRun, commit, head: 'c'.repeat(40) } as const;

  test('is what a service builds that pins commits, although the head has moved on', async () => {
    const fixture = new DeployFixture();
    fixture.control.pinsCommits = true;
    fixture.control.scripts.push(goesLive(first));
    expect(await fixture.deploy({ ...request, previewRun: { ...previewRun, mustPin: true } })).toMatchObject({
      kind: 'deployed',
      rollout: { builtCommit: first },
    });
    expect(fixture.control.pinned).toEqual([first]);
  });

  test('is refused by a service that builds the head, once that has moved on', async () => {
    const fixture = new DeployFixture();
    expect(await fixture.deploy(request)).toMatchObject({ kind: 'refused', changed: false });
    expect(fixture.control.sent).toEqual([]);
  });

  test('is refused of a fork by a service that builds the head', async () => {
    const fixture = new DeployFixture();
    const ofFork = { ...request, head: commit, previewRun: { ...previewRun, mustPin: true } };
    const reason = expect.stringContaining('which the fork may change after a commit of it was approved');
    expect(await fixture.deploy(ofFork)).toMatchObject({ kind: 'refused', changed: false, reason });
    expect(fixture.control.sent).toEqual([]);
  });
});
