import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Journal, JournalEntry } from '../../src/deploy/machine/journal.ts';
import { openJournal } from '../../src/host/journal-file.ts';

const apiKey = 'key-of-the-service';
const kept: JournalEntry = {
  at: 0,
  deploy: { state: 'following', own: { deploymentId: 'd1', revisionId: 'r2', how: 'patched' } },
  changed: true,
  notes: [],
};
const keep = (journal: Journal | undefined, what: JournalEntry | undefined) => journal?.keep(what, (text) => text);

/** A folder with one journal: what opens it, and what has another process, which lives, own it. */
function journalIn() {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'deploy.json');
  const open = () =>
    openJournal(
      {
        options: {
          mode: 'rollback',
          baseUrl: 'https://control.test',
          apiKey,
          spelling: 'contract',
          allowHttp: false,
          wait: true,
          timeoutMs: 60_000,
          pollMs: 100,
          onSuperseded: 'fail',
        },
        subject: { mode: 'rollback', named: { name: 'echo' }, smokeTests: [], onFailure: 'keep', onUnproven: 'keep' },
      },
      { path, resume: false, env: {} },
    );
  const read = () => readFileSync(path, 'utf8');
  const handOver = () => {
    const text = (read().split('\n')[0] ?? '').replace(`"pid":${process.pid}`, `"pid":${process.ppid}`);
    writeFileSync(path, `${text}\n${createHmac('sha256', apiKey).update(text).digest('hex')}\n`);
  };
  return { path, open, read, handOver };
}

test('says what an earlier run left', async () => {
  const { open } = journalIn();
  const opened = await open();
  await keep(opened.ok ? opened.journal : undefined, kept);
  expect(await open()).toMatchObject({ ok: true, kept, journal: { left: kept } });
});

test('is not written where another process writes it', async () => {
  const { open, read, handOver, path } = journalIn();
  const [one, other] = [await open(), await open()];
  const [ours, theirs] = [one, other].map((opened) => (opened.ok ? opened.journal : undefined));
  expect(existsSync(path)).toBe(false);
  await keep(ours, kept);
  handOver();
  const before = read();
  await expect(keep(theirs, kept)).rejects.toThrow(`process ${process.ppid} writes ${path}`);
  await expect(keep(ours, undefined)).rejects.toThrow(`process ${process.ppid} writes ${path}`);
  expect(read()).toBe(before);
  expect(await open()).toMatchObject({
    ok: false,
    problem: { message: expect.stringContaining('goes on with this run') },
  });
});
