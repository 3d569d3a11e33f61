import { loggerTo } from '../../../logger.ts';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { branchHeads } from '../../../../src/services/control/pushes/branch-heads.ts';
import { watchPushes } from '../../../../src/services/control/pushes/watch-pushes.ts';
import { commit, git, plainAgent, repository } from '../builds/repositories.ts';
import {
  closeAll,
  goesLive,
  openMachine,
  overHttp,
  startService,
  reaches,
  until,
} from '../rollouts/running-service.ts';
import type { RunningService } from '../rollouts/running-service.ts';

let opened: RunningService;
let stop: () => Promise<void>;
const logged: string[] = [];

/** How often each repository was polled. */
const polls = new Map<string, number>();

const startWatching = (): (() => Promise<void>) => {
  const query = branchHeads({
    dataDir: opened.machine.dataDir,
    allowGit: opened.machine.allowGit,
    clock: systemClock,
  });
  return watchPushes({
    store: opened.store.pushes,
    rollouts: opened.rollouts,
    heads: async (repoUrl, signal) => {
      polls.set(repoUrl, (polls.get(repoUrl) ?? 0) + 1);
      return query(repoUrl, signal);
    },
    which: 'folders',
    clock: systemClock,
    log: loggerTo((message) => void logged.push(message)),
    everyMs: 150,
  });
};

beforeAll(async () => {
  opened = overHttp(await startService(await openMachine()));
  stop = startWatching();
});
afterAll(async () => {
  await stop();
  await closeAll();
});

let names = 0;

describe('over HTTP', () => {
  /** A live deployment of a repository of its own. */
  async function deployed(config: object = {}): Promise<{ id: string; repo: string; first: string }> {
    const name = `pushed-to-${(names += 1)}`;
    const { folder: repo } = repository(join(opened.machine.root, 'git', name), plainAgent);
    const made = await opened.control.createDeployment({
      name,
      source: 'github',
      source_config: { repo_url: repo, ...config },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    });
    await goesLive(opened, { id: made.id, revisionId: made.latest_revision_id ?? '' });
    return { id: made.id, repo, first: made.latest_revision_id ?? '' };
  }

  const latest = async (id: string): Promise<string> =>
    (await opened.control.getDeployment(id)).latest_revision_id ?? '';
  const count = async (id: string): Promise<number> => (await opened.control.listRevisions(id, {})).resources.length;

  afterEach(async () => {
    for (const { id } of (await opened.control.listDeployments({ limit: 100 })).resources) {
      await opened.control.deleteDeployment(id, { deleteTracingProject: true });
      await until(async () => (await opened.store.deployment(id)) === undefined);
    }
  });

  /** Waits until a head was observed. */
  async function isSeen(id: string, head: string): Promise<void> {
    await expect
      .poll(async () => (await opened.store.pushes.watched('folders')).find((one) => one.id === id)?.seen)
      .toBe(head);
  }

  test(
    'each push to the branch builds a revision',
    { meta: { claims: ['control.states.push-builds', 'control.source-config.build-on-push-builds'] } },
    async () => {
      const { id, repo, first } = await deployed({ build_on_push: true });
      const pushed = commit(repo, { 'more.txt': 'more' });
      await expect.poll(() => latest(id)).not.toBe(first);
      const second = await latest(id);
      expect(await goesLive(opened, { id, revisionId: second })).toMatchObject({
        source_revision_config: { repo_ref: 'main', repo_commit_sha: pushed },
      });
      const again = commit(repo, { 'more.txt': 'again' });
      await expect.poll(() => latest(id)).not.toBe(second);
      const third = await goesLive(opened, { id, revisionId: await latest(id) });
      expect(third.source_revision_config.repo_commit_sha).toBe(again);
      await isSeen(id, again);
      expect(await count(id)).toBe(3);
      const written = (await opened.control.listAudit({ limit: 100 })).resources.filter(
        ({ operation, subject }) => operation === 'build push' && subject['deployment_id'] === id,
      );
      expect(written).toHaveLength(2);
    },
  );

  test(
    'ignores a push with build_on_push off, to another branch or of a tag',
    { meta: { claims: ['control.states.push-ignored'] } },
    async () => {
      const [off, unset, on] = [
        await deployed({ build_on_push: false }),
        await deployed(),
        await deployed({ build_on_push: true }),
      ];
      for (const { id, repo } of [off, unset]) await isSeen(id, commit(repo, { 'more.txt': 'more' }));
      const head = git(on.repo, 'rev-parse', 'main');
      await isSeen(on.id, head);
      git(on.repo, 'switch', '--quiet', '--create', 'other');
      commit(on.repo, { 'more.txt': 'more' });
      git(on.repo, 'tag', 'v1');
      git(on.repo, 'tag', 'main');
      // The second poll from here on begins after these pushes, and the third after the second has had its effect.
      const before = polls.get(on.repo) ?? 0;
      await expect.poll(() => polls.get(on.repo)).toBeGreaterThanOrEqual(before + 3);
      expect([await count(on.id), await count(off.id), await count(unset.id)]).toEqual([1, 1, 1]);
      git(on.repo, 'tag', '--delete', 'main');
      git(on.repo, 'switch', '--quiet', 'main');
      const pushed = commit(on.repo, { 'main.txt': 'more' });
      await expect.poll(() => latest(on.id)).not.toBe(on.first);
      const built = await goesLive(opened, { id: on.id, revisionId: await latest(on.id) });
      expect(built.source_revision_config.repo_commit_sha).toBe(pushed);
      expect([await count(on.id), await count(off.id), await count(unset.id)]).toEqual([2, 1, 1]);
    },
  );

  test('turning build_on_push on builds only later pushes', async () => {
    const { id, repo, first } = await deployed({ build_on_push: false });
    await isSeen(id, commit(repo, { 'before.txt': 'x' }));
    await opened.control.patchDeployment(id, { source_config: { build_on_push: true } });
    expect(await latest(id)).toBe(first);
    const after = commit(repo, { 'after.txt': 'x' });
    await expect.poll(() => latest(id)).not.toBe(first);
    const built = await goesLive(opened, { id, revisionId: await latest(id) });
    expect(built.source_revision_config.repo_commit_sha).toBe(after);
    expect(await count(id)).toBe(2);
  });

  test('a concurrent manual revision counts as the one of the push', async () => {
    const { id, repo } = await deployed({ build_on_push: true });
    await stop();
    const head = commit(repo, { 'more.txt': 'more' });
    const requested = await opened.control.patchDeployment(id, { source_revision_config: { repo_ref: 'main' } });
    stop = startWatching();
    await goesLive(opened, { id, revisionId: requested.latest_revision_id ?? '' });
    await isSeen(id, head);
    expect(await count(id)).toBe(2);
  });

  test('a restart neither repeats nor misses a push; a failed build is not retried', async () => {
    const { id, repo } = await deployed({ build_on_push: true });
    await stop();
    const broken = commit(repo, { 'langgraph.json': 'broken' });
    stop = startWatching();
    await isSeen(id, broken);
    const second = await latest(id);
    expect((await reaches(opened, id, second)).status).toBe('BUILD_FAILED');
    for (let round = 0; round < 3; round += 1) {
      await stop();
      stop = startWatching();
    }
    const repaired = commit(repo, plainAgent);
    await isSeen(id, repaired);
    await goesLive(opened, { id, revisionId: await latest(id) });
    expect(await count(id)).toBe(3);
  });

  test('stops watching a deployment that is being deleted', async () => {
    const { id, repo } = await deployed({ build_on_push: true });
    await opened.control.deleteDeployment(id, { deleteTracingProject: true });
    commit(repo, { 'more.txt': 'more' });
    await expect
      .poll(() =>
        opened.control.getDeployment(id).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });
});

test('reports an unreachable repository once and keeps watching the others', async () => {
  const { control, machine, store } = opened;
  const { folder } = repository(join(machine.root, 'git/vanishing'), plainAgent);
  const made = await control.createDeployment({
    name: 'vanishing',
    source: 'github',
    source_config: { repo_url: folder, build_on_push: true },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  await goesLive(opened, { id: made.id, revisionId: made.latest_revision_id ?? '' });
  rmSync(folder, { recursive: true });
  const of = (): string[] => logged.filter((line) => line.includes(folder));
  await expect.poll(() => of().length).toBe(1);
  symlinkSync('/', folder);
  await expect.poll(() => of().length).toBe(2);
  expect(of()[1]).toContain('leads out of the folders that the service allows');
  expect((await store.listRevisions(made.id, {})).length).toBe(1);
  rmSync(folder);
  await control.deleteDeployment(made.id, { deleteTracingProject: true });
});
