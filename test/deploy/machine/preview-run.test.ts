import { describe, expect, test } from 'vitest';
import type { PreviewRequest, PullRequest } from '../../../src/deploy/machine/preview.ts';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { goesLive, serviceError } from './control-model.ts';
import { built, first, second } from './deploy-fixture.ts';
import { closed, file, key, ofFork, opened, PreviewFixture } from './preview-fixture.ts';

const opens = async (more: Partial<PreviewRequest> = {}) => {
  const fixture = new PreviewFixture();
  fixture.control.scripts.push(goesLive(first), goesLive(second));
  return { fixture, outcome: await fixture.run(more) };
};
const hour = 3_600_000;

describe('an open pull request', () => {
  test('gets a preview that says when it expires', async () => {
    const { fixture, outcome } = await opens();
    expect(outcome).toMatchObject({
      kind: 'deployed',
      deploymentName: previewName(key),
      preview: { pullRequest: 12, entry: 'agent', removed: [], expiresAt: expect.stringMatching(/^\d{4}-/) },
    });
    expect(fixture.control.sent).toMatchObject([
      {
        name: previewName(key),
        secrets: [{ name: 'LANDFALL_PREVIEW', value: '4711/12/agent' }],
        source_revision_config: { repo_ref: 'faster' },
      },
    ]);
  });

  test('that is pushed to keeps its deployment', async () => {
    const { fixture } = await opens();
    const outcome = await fixture.run({ pull: { ...opened, headSha: second } });
    expect(outcome).toMatchObject({ kind: 'deployed', deploymentId: 'd1', rollout: { builtCommit: second } });
    expect(fixture.control.count('create')).toBe(1);
  });

  test('that is run again keeps its revision', async () => {
    const { fixture } = await opens();
    expect(await fixture.run()).toMatchObject({ kind: 'unchanged', deploymentId: 'd1' });
  });

  test('whose preview has another name now leaves one', async () => {
    const { fixture } = await opens();
    const former = fixture.hasPreview(12);
    if (fixture.control.others[0]) fixture.control.others[0].name = previewName(key, 'former');
    expect(await fixture.run()).toMatchObject({ preview: { removed: [{ code: 'renamed' }] } });
    expect(fixture.deletedIds).toEqual([former]);
  });

  test('that is closed while it is deployed leaves nothing', async () => {
    const fixture = new PreviewFixture();
    fixture.control.onWrite = () => fixture.closed.add(12);
    expect(await fixture.run()).toMatchObject({ kind: 'deleted', preview: { removed: [{ code: 'closed' }] } });
    expect(fixture.deletedIds).toEqual(['d1']);
  });

  test('that was reopened waits until the former preview is gone', async () => {
    const { fixture } = await opens();
    fixture.control.leaves();
    expect(await fixture.run({ pull: { ...opened, headSha: second } })).toMatchObject({
      kind: 'deployed',
      preview: { removed: [] },
    });
    expect(fixture.control.count('create')).toBe(2);
  });

  test('of a fork is not built before its commit was approved', async () => {
    const pull = ofFork;
    const refused = new PreviewFixture();
    for (const approvedSha of [undefined, second, first.slice(0, 7)]) {
      const outcome = await refused.run({ pull, approvedSha, isRequested: true });
      expect(outcome).toMatchObject({ kind: 'neutral', passes: true, preview: { waits: 'approval' } });
      expect(outcome.advice).toContain(`approved-commit: ${first}`);
    }
    expect(refused.control.sent).toEqual([]);
  });

  test('of a fork is built by the commit that was approved', async () => {
    const fixture = new PreviewFixture();
    fixture.control.pinsCommits = true;
    fixture.control.scripts.push(goesLive(first));
    expect(await fixture.run({ pull: ofFork, approvedSha: first })).toMatchObject({ kind: 'deployed' });
    expect(fixture.control.pinned).toEqual([first]);
    expect(fixture.control.sent).toMatchObject([{ source_config: { repo_url: 'https://github.com/eve/agent' } }]);
  });

  test.each<[sentence: string, preview: string, scalesToZero: boolean, sent: unknown[], isNoted: boolean]>([
    ['sleeps after half an hour', 'true', true, [1_800, 1_800], false],
    ['sleeps when the file says', '{ idle-after: 2m }', true, [120, 120], false],
    ['never sleeps', '{ idle-after: never }', true, ['never', 'never'], false],
    ['runs on where the service stops no agents', 'true', false, [], true],
    ['runs on as the file says', '{ idle-after: never }', false, [], false],
  ])('%s', async (_, preview, scalesToZero, sent, isNoted) => {
    const fixture = new PreviewFixture();
    fixture.control.scalesToZero = scalesToZero;
    fixture.control.scripts.push(goesLive(first), goesLive(second));
    const deployment = file(preview);
    const { notes } = await fixture.run({ deployment });
    const note = 'this service does not stop agents that nobody uses: the preview runs until it is removed';
    expect(notes.includes(note)).toBe(isNoted);
    const pushed = await fixture.run({ deployment, pull: { ...opened, headSha: second } });
    expect([fixture.control.idleAfter, pushed.notes.includes(note)]).toEqual([sent, false]);
  });

  test.each<[sentence: string, more: Partial<PreviewRequest>, reason: string]>([
    ['no longer has this head', { eventSha: second }, 'no longer the head of pull request 12'],
    ['needs a label', { deployment: file('{ when: { label: preview } }') }, 'does not have it'],
    ['needs a command', { deployment: file('{ when: command }') }, 'nobody requested one'],
    ['has no preview in the file', { deployment: file('false') }, 'has no `preview` of agent'],
    ['was closed by the event, and opened again since', { deployment: undefined }, 'It is open again'],
  ])('that %s is left alone', async (_, more, reason) => {
    const { fixture, outcome } = await opens(more);
    expect(outcome).toMatchObject({ kind: 'neutral', passes: true, reason: expect.stringContaining(reason) });
    expect(fixture.control.sent).toEqual([]);
  });

  test('whose secrets have no value is refused, and shows no value', async () => {
    const { fixture, outcome } = await opens({ deployment: file('{ secrets: [KEY=PREVIEW_KEY] }') });
    expect(outcome).toMatchObject({
      kind: 'refused',
      passes: false,
      reason: '`preview.secrets` names secrets without a value: PREVIEW_KEY.',
    });
    expect(fixture.control.sent).toEqual([]);
  });

  test('loses its preview with the label', async () => {
    const { fixture } = await opens();
    const labeled = file('{ when: { label: preview } }');
    const outcome = await fixture.run({ deployment: labeled });
    expect(outcome).toMatchObject({ kind: 'deleted', preview: { removed: [{ code: 'unlabeled' }] } });
  });
});

describe('a closed pull request', () => {
  test('loses all of its previews, whatever the file says', async () => {
    const { fixture } = await opens();
    const other = fixture.hasPreview(12, 0, { ...key, entry: 'billing' });
    const outcome = await fixture.run({ pull: closed, deployment: undefined });
    expect(outcome).toMatchObject({ kind: 'deleted', passes: true, changed: true });
    expect(fixture.deletedIds.toSorted()).toEqual(['d1', other]);
  });

  test('that has none passes, also the second time', async () => {
    const fixture = new PreviewFixture();
    const outcome = await fixture.run({ pull: closed, deployment: undefined });
    expect(outcome).toMatchObject({ kind: 'deleted', passes: true, changed: false });
    expect(outcome.reason).toBe('Pull request 12 has no preview: there was nothing to remove.');
  });

  test('leaves everything alone that is not its own', async () => {
    const fixture = new PreviewFixture();
    fixture.has('agent', []);
    fixture.has(previewName(key), [{ name: 'TOKEN', value: 'x' }]);
    fixture.has('support-pr-12', [{ name: 'LANDFALL_PREVIEW', value: markOf(key) }]);
    fixture.hasPreview(13);
    fixture.hasPreview(12, 0, { ...key, repositoryId: 47 });
    await fixture.run({ pull: closed, deployment: undefined });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('whose service does not answer fails, and nothing is said to be removed', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(12);
    fixture.control.fails('list', serviceError('unreachable', 'list deployments'), { times: 9 });
    expect(await fixture.run({ pull: closed })).toMatchObject({
      kind: 'failed',
      passes: false,
      preview: { removed: [] },
    });
  });
});

test('repositories of another host with the same number are others', async () => {
  const fixture = new PreviewFixture();
  fixture.hasPreview(12);
  const repositoryUrl = 'https://github.acme.example/acme/agent';
  const outcome = await fixture.run({ pull: { ...closed, repositoryUrl }, deployment: undefined });
  expect(outcome).toMatchObject({ kind: 'deleted', changed: false });
});

describe('a service that does not say which secrets there are', () => {
  test('gets no preview, where it says so of any deployment', async () => {
    const fixture = new PreviewFixture();
    fixture.has('agent', null);
    const reason = expect.stringContaining('could not be told from other deployments');
    expect(await fixture.run()).toMatchObject({ kind: 'refused', passes: false, reason });
    expect(fixture.control.sent).toEqual([]);
  });

  test('keeps what another client made under the name of a preview', async () => {
    const fixture = new PreviewFixture();
    fixture.control.onWrite = () => {
      const { deployment } = fixture.control.service;
      if (deployment) deployment.secrets = [{ name: 'TOKEN', value: 'x' }];
    };
    await fixture.run();
    expect(fixture.control.deleted).toEqual([]);
  });

  test('keeps none that was made before that was known', async () => {
    const fixture = new PreviewFixture();
    fixture.control.onWrite = () => {
      if (fixture.control.service.deployment) fixture.control.service.deployment.secrets = null;
    };
    expect(await fixture.run()).toMatchObject({ kind: 'refused', passes: false });
    expect(fixture.deletedIds).toEqual(['d1']);
  });
});

describe('the agents of a fork', () => {
  const tested = file(
    '{ smoke-tests: [{ name: t, assistant: echo, input: 1, against: live, tries: 30, decide-by: [pass-rate] }] }',
  );

  async function asked(pull: PullRequest, pinsCommits: boolean) {
    const fixture = new PreviewFixture();
    fixture.control.pinsCommits = pinsCommits;
    fixture.control.scripts.push(goesLive(first));
    const production = { ...built, url: 'https://production.test', source: 'external_docker' };
    const ids = { id: 'p', tenant_id: 't1', latest_revision_id: 'p1', active_revision_id: 'p1', status: 'READY' };
    fixture.control.others.push({ ...production, ...ids, created_at: '', updated_at: '' });
    const [keyed, keyless]: [string[], string[]] = [[], []];
    const agentAt = (urls: string[]) => (url: string) => {
      urls.push(url);
      return fixture.agent;
    };
    const imaged = { ...tested, desired: { source: 'external_docker', name: 'agent', rebuild: 'auto' } } as const;
    await fixture.run({
      deployment: { ...imaged, desired: { ...imaged.desired, secretsStrategy: 'merge' } },
      pull: { ...pull, imageUri: 'registry.test/agent@sha256:0' },
      approvedSha: first,
      agentAt: agentAt(keyed),
      keylessAgents: { agentAt: agentAt(keyless) },
    });
    return { keyed: [...new Set(keyed)], keyless: [...new Set(keyless)] };
  }

  test('get no key of a service that would hand it to them', async () => {
    expect(await asked(ofFork, false)).toEqual({
      keyed: ['https://production.test'],
      keyless: ['https://agent.test'],
    });
  });

  test.each([
    ['of a service that keeps it back', ofFork, true],
    ['where the commit is of the repository itself', opened, false],
  ])('get one %s', async (_, pull, pinsCommits) => {
    expect((await asked(pull, pinsCommits)).keyless).toEqual([]);
  });
});

describe('what other runs left', () => {
  test('of closed pull requests is removed', async () => {
    const fixture = new PreviewFixture();
    const lost = fixture.hasPreview(7);
    fixture.hasPreview(8);
    fixture.closed.add(7);
    expect(await fixture.run()).toMatchObject({ preview: { removed: [{ pullRequest: 7, code: 'closed' }] } });
    expect(fixture.deletedIds).toEqual([lost]);
  });

  test('and had its time is removed, of this deployment alone', async () => {
    const fixture = new PreviewFixture();
    const old = fixture.hasPreview(7, 49 * hour);
    fixture.hasPreview(8, 47 * hour);
    fixture.hasPreview(9, 99 * hour, { ...key, entry: 'billing' });
    await fixture.run({ deployment: file('{ expires-after: 2d }') });
    expect(fixture.deletedIds).toEqual([old]);
  });

  test('and is too much is removed, the oldest first', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7, 2 * hour);
    const [oldest, older] = [fixture.hasPreview(8, 4 * hour), fixture.hasPreview(9, 3 * hour)];
    const outcome = await fixture.run({ deployment: file('{ max: 2 }') });
    expect(outcome).toMatchObject({
      kind: 'deployed',
      preview: { removed: [{ code: 'too-many' }, { code: 'too-many' }] },
    });
    expect(fixture.deletedIds.toSorted()).toEqual([oldest, older].toSorted());
  });

  test('stays where it changed since it was found to be expired', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7, 49 * hour);
    const isClosed = async (): Promise<boolean> => {
      fixture.changesOthers();
      return false;
    };
    await fixture.run({ deployment: file('{ expires-after: 2d }'), isClosed });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('stays where it changed since it was found to be too much', async () => {
    const fixture = new PreviewFixture();
    const id = fixture.hasPreview(7, 3 * hour);
    const read = fixture.control.getDeployment.bind(fixture.control);
    let readsAfterWrite = NaN;
    fixture.control.onWrite = () => void (readsAfterWrite = 0);
    // The second read is the one before the deletion.
    fixture.control.getDeployment = (requested, options) => {
      if (requested === id) readsAfterWrite += 1;
      if (readsAfterWrite === 2) fixture.changesOthers();
      return read(requested, options);
    };
    await fixture.run({ deployment: file('{ max: 1 }') });
    expect([readsAfterWrite, fixture.control.deleted]).toEqual([2, []]);
  });

  test('is removed on a schedule', async () => {
    const fixture = new PreviewFixture();
    const [closedOne, old] = [fixture.hasPreview(7), fixture.hasPreview(8, 49 * hour)];
    fixture.hasPreview(9);
    fixture.hasPreview(7, 99 * hour, { ...key, repositoryId: 47 });
    fixture.closed.add(7);
    const outcome = await fixture.sweep('{ expires-after: 2d }');
    expect(outcome).toMatchObject({ kind: 'deleted', passes: true, changed: true });
    expect(fixture.deletedIds.toSorted()).toEqual([closedOne, old].toSorted());
    expect(await fixture.sweep('true')).toMatchObject({
      kind: 'deleted',
      changed: false,
      reason: 'No preview was left of a closed pull request or beyond its time.',
    });
  });

  test('and had its time is removed while another one waits', async () => {
    const fixture = new PreviewFixture();
    const old = fixture.hasPreview(7, 49 * hour);
    await fixture.run({ deployment: file('{ when: command, expires-after: 2d }') });
    expect(fixture.deletedIds).toEqual([old]);
  });

  test('stays where GitHub does not say that it is closed', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7);
    await fixture.run({ isClosed: async () => undefined });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('has its time and its number also where the service hides the marks', async () => {
    const fixture = new PreviewFixture();
    const old = fixture.hasPreview(7, 49 * hour);
    const [oldest] = [fixture.hasPreview(8, 4 * hour), fixture.hasPreview(9, 3 * hour)];
    fixture.hasPreview(10, 99 * hour, { ...key, entry: 'billing' });
    for (const each of fixture.control.others) each.secrets = [{ name: 'LANDFALL_PREVIEW', value: '*****' }];
    const outcome = await fixture.run({ deployment: file('{ max: 2, expires-after: 2d }') });
    expect(fixture.deletedIds.toSorted()).toEqual([old, oldest].toSorted());
    expect(outcome).toMatchObject({ preview: { removed: [{ entry: 'agent' }, { entry: 'agent' }] } });
  });

  test('is looked up in the end, however many pull requests are open', async () => {
    const fixture = new PreviewFixture();
    for (let number = 100; number < 160; number += 1) fixture.hasPreview(number);
    fixture.closed.add(155);
    await fixture.run({ deployment: file('{ max: 100 }'), random: () => 0.7 });
    expect(fixture.control.deleted).toHaveLength(1);
    fixture.closed.add(141).add(101);
    await fixture.sweep('{ max: 100 }');
    expect(fixture.deletedIds).toEqual(expect.arrayContaining(['other-56', 'other-2', 'other-42']));
  });

  test('stays where another one has gone while the new one was built', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7, 3 * hour);
    fixture.hasPreview(8, 2 * hour);
    fixture.control.onWrite = () => void fixture.control.others.splice(1, 1);
    await fixture.run({ deployment: file('{ max: 2 }') });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('stays where the new one is not made', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7);
    const deployment = file('{ max: 1 }');
    const outcome = { kind: 'refused', passes: false, reason: 'x', changed: false, notes: [] } as const;
    await fixture.run({ deployment, pack: async () => ({ ok: false, outcome }) });
    await fixture.run({ deployment, pull: ofFork, approvedSha: first });
    fixture.control.fails('create', serviceError('rejected', 'create deployment', { status: 400 }));
    await fixture.run({ deployment });
    expect(fixture.control.deleted).toEqual([]);
  });

  test('and can not be removed is noted, and the preview is deployed', async () => {
    const fixture = new PreviewFixture();
    fixture.hasPreview(7);
    fixture.closed.add(7);
    fixture.control.fails('delete', serviceError('rejected', 'delete deployment', { status: 400 }));
    const outcome = await fixture.run();
    expect(outcome).toMatchObject({ kind: 'deployed', preview: { removed: [] } });
    expect(outcome.notes.join(' ')).toContain('was not removed');
  });
});

test('a deployment that is not the preview is not shown as it', async () => {
  const fixture = new PreviewFixture();
  fixture.has(previewName(key), [{ name: 'TOKEN', value: 'x' }]);
  const outcome = await fixture.run();
  expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringContaining('is not the preview') });
  for (const field of ['deploymentId', 'deploymentUrl', 'activeRevisionId', 'preview.expiresAt']) {
    expect(outcome).not.toHaveProperty(field);
  }
});

test('a run that is ended after it removed something says so', async () => {
  const fixture = new PreviewFixture();
  fixture.hasPreview(7);
  fixture.hasPreview(8);
  const isClosed = async (number: number): Promise<boolean> => {
    if (fixture.control.deleted.length > 0) fixture.cancelled.abort(new Error('cancelled'));
    return number > 0;
  };
  const outcome = await fixture.run({ isClosed });
  expect(outcome).toMatchObject({ kind: 'interrupted', changed: true });
  expect(outcome.reason).toContain('A preview was removed');
});

test('a run that is cancelled before it has begun says so', async () => {
  const fixture = new PreviewFixture();
  fixture.cancelled.abort(new Error('cancelled'));
  expect(await fixture.run()).toMatchObject({ kind: 'interrupted', passes: false });
});
