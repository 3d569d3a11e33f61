import { afterEach, beforeEach, expect, test } from 'vitest';
import { removalOf } from '../../../app/previews/decide-previews.ts';
import { keptGoneMs, RunSuperseded, type PreviewStore } from '../../../app/previews/preview-store.ts';
import { commitOf, repository, requestOf } from './a-preview.ts';

/** An empty store, the jobs it sent, and its clock. */
export interface OpenedPreviews {
  previews: PreviewStore;
  jobs: { name: string; key: string; at: number }[];
  now: () => number;
  setNow: (now: number) => void;
}

const start = Date.parse('2026-11-30T12:00:00Z');
const pull = { repositoryId: repository.repositoryId, number: 7 };
const key = { ...pull, entry: 'support' };
const [a, b] = [commitOf('a'), commitOf('b')];

/** What every store of previews has to do. */
export function previewStoreContract(open: () => Promise<OpenedPreviews>): void {
  let opened: OpenedPreviews;
  let previews: PreviewStore;
  beforeEach(async () => {
    opened = await open();
    opened.setNow(start);
    ({ previews } = opened);
    await previews.notify(repository, 7);
  });
  afterEach(() => undefined);

  const begun = async () => {
    const started = await previews.startRun(key);
    if (!started) throw new Error('there is no preview');
    return started;
  };
  const stored = async () => {
    const preview = await previews.preview(key);
    if (!preview) throw new Error('there is no preview');
    return preview;
  };

  test('records events with a job for each, and keeps what they do not say', async () => {
    const approval = { commit: a, by: 'wilma', at: start };
    await previews.notify(repository, 7, { approval });
    await previews.notify({ ...repository, name: 'renamed' }, 7, { isUnreachable: true });
    await previews.notify({ ...repository, name: 'renamed' }, 7);
    expect(await previews.pull(pull)).toEqual({
      ...pull,
      repository: { ...repository, name: 'renamed' },
      approval,
      isUnreachable: true,
      notifiedSeq: 4,
      processedSeq: 0,
    });
    expect(opened.jobs).toEqual(Array.from({ length: 4 }, () => ({ name: 'preview-pull', key: '70/7', at: start })));
  });

  test('ends a look, and sends the next one for its time', async () => {
    await previews.looked(pull, 1, start + 5_000);
    expect(await previews.pull(pull)).toMatchObject({ processedSeq: 1, nextAt: start + 5_000 });
    expect(opened.jobs.at(-1)).toEqual({ name: 'preview-pull', key: '70/7', at: start + 5_000 });
    await previews.looked(pull, 0, undefined);
    expect(await previews.pull(pull)).toMatchObject({ processedSeq: 1 });
    expect((await previews.pull(pull))?.nextAt).toBeUndefined();
  });

  test('sends a job of its own for a deploy and for a removal', async () => {
    await previews.want([requestOf(7, a)], []);
    await previews.want([removalOf(await stored(), 'closed', start)], []);
    expect(opened.jobs.slice(1)).toEqual([
      { name: 'preview-deploy', key: '70/7/support', at: start },
      { name: 'preview-removal', key: '70/7/support', at: start },
    ]);
    expect(await stored()).toMatchObject({ version: 2, wanted: { kind: 'gone', code: 'closed', commit: a } });
    await previews.again(key, start + 3_000);
    expect(opened.jobs.at(-1)).toEqual({ name: 'preview-removal', key: '70/7/support', at: start + 3_000 });
  });

  test('lets only the newest run of the newest version write', async () => {
    await previews.want([requestOf(7, a)], []);
    const first = await begun();
    await previews.save(first.run, { known: { deploymentId: 'd1' }, journal: '{"version":1,"kept":{"at":5}}' });
    const second = await begun();
    expect(second.preview).toMatchObject({ known: { deploymentId: 'd1', changedAt: 0 }, journal: { version: 1 } });
    await expect(previews.save(first.run, { known: { failures: 9 } })).rejects.toThrow(RunSuperseded);
    await previews.want([requestOf(7, b)], []);
    await expect(previews.save(second.run, { journal: null })).rejects.toThrow(RunSuperseded);
    expect(await stored()).toMatchObject({ version: 2, known: { deploymentId: 'd1', failures: 0 } });
  });

  test('has news looked at', async () => {
    await previews.want([requestOf(7, a)], []);
    const { run } = await begun();
    await previews.save(run, { known: { goneAt: start }, journal: null, isNews: true });
    expect(await previews.pull(pull)).toMatchObject({ notifiedSeq: 2 });
    expect(opened.jobs.at(-1)).toEqual({ name: 'preview-pull', key: '70/7', at: start });
    expect((await stored()).journal).toBeUndefined();
  });

  test('finds what an entry has, the oldest first', async () => {
    for (const [number, at] of [
      [7, 30],
      [8, 10],
      [9, 20],
    ] as const) {
      await previews.notify(repository, number);
      await previews.want([requestOf(number, a, at)], []);
    }
    const [oldest] = await previews.wantedOf(70, 'support');
    if (!oldest) throw new Error('there is none');
    await previews.want([removalOf(oldest, 'too-many', start)], []);
    expect((await previews.wantedOf(70, 'support')).map(({ number }) => number)).toEqual([9, 7]);
    expect(await previews.wantedOf(71, 'support')).toEqual([]);
    expect(await previews.wantedOf(70, 'other')).toEqual([]);
  });

  test('forgets what is gone for long, and the pull requests that had nothing else', async () => {
    await previews.want([requestOf(7, a)], []);
    await previews.want([removalOf(await stored(), 'closed', start)], []);
    expect(await previews.openPulls(start)).toHaveLength(1);
    const { run } = await begun();
    await previews.save(run, { known: { goneAt: start } });
    await previews.looked(pull, 1, undefined);
    expect(await previews.openPulls(start)).toHaveLength(1);
    expect(await previews.openPulls(start + 1)).toEqual([]);
    expect(await previews.forgetPreviews(start)).toBe(0);
    expect(await previews.forgetPreviews(start + 1)).toBe(2);
    expect(await previews.pull(pull)).toBeUndefined();
  });

  test('remembers for months what expired, so that it stays gone', async () => {
    await previews.want([requestOf(7, a)], []);
    await previews.want([removalOf(await stored(), 'expired', start)], []);
    await previews.save((await begun()).run, { known: { goneAt: start } });
    expect(await previews.forgetPreviews(start + keptGoneMs)).toBe(0);
    expect(await previews.forgetPreviews(start + keptGoneMs + 1)).toBeGreaterThan(0);
  });

  test('keeps a pull request with an event that was not looked at, and a new approval', async () => {
    await previews.notify(repository, 8, { approval: { commit: a, by: 'wilma', at: start } });
    await previews.looked({ ...pull, number: 8 }, 1, undefined);
    expect(await previews.forgetPreviews(start)).toBe(0);
    expect(await previews.forgetPreviews(start + 1)).toBe(1);
    expect(await previews.pull(pull)).toBeDefined();
  });

  test('follows a repository that moves', async () => {
    await previews.moved({ ...repository, owner: 'globex' });
    expect((await previews.pull(pull))?.repository.owner).toBe('globex');
  });
}
