// A disk without any space left under a running service, its database and its agents, and space again: nothing that was
// acknowledged is lost, no answer names a file, and everything goes on by itself. The disk is a file system of its own,
// which only root can mount.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { askOf, KillLedger, type Ask } from './kill-ledger.ts';
import { putTarball, UploadLedger, uploadDeployment } from './uploads.ts';
import { linkPackages } from '../installed-packages.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

/** Enough for everything here, and for what a build wants to see free. */
const wide = 2 ** 31;

describe.runIf(process.getuid?.() === 0)('a disk that is full', () => {
  let disk: string;
  let fixture: JourneyFixture;
  let deploymentId = '';
  let uploads: UploadLedger;
  let uploadedId = '';
  let ask: Ask;
  const ledger = new KillLedger();

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'landfall-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${wide},mode=0755`, 'tmpfs', disk]);
    vi.stubEnv('TMPDIR', disk);
    fixture = await openJourneyFixture({ ownPostgres: true });
    const repository = await fixture.repository('talker');
    const made = await fixture.control.createDeployment({
      name: 'cramped',
      source: 'github',
      source_config: {
        repo_url: pathToFileURL(repository.folder).href,
        build_on_push: false,
        install_command: linkPackages,
      },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    });
    deploymentId = made.id;
    uploadedId = await uploadDeployment(fixture, 'uploaded');
    uploads = new UploadLedger(fixture, uploadedId);
    await newestIs('DEPLOYED');
    const { url } = await fixture.control.getDeployment(deploymentId);
    ask = (...args) => askOf(url ?? '', fixture.service.apiKey)(...args);
  });
  afterAll(async () => {
    await fixture?.close();
    vi.unstubAllEnvs();
    execFileSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });

  const newestIs = (status: string): Promise<void> =>
    vi.waitFor(async () => expect((await fixture.revisions(deploymentId))[0]).toMatchObject({ status }), {
      timeout: 120_000,
      interval: 200,
    });

  const resize = (bytes: number): void => {
    execFileSync('mount', ['-o', `remount,size=${bytes}`, disk], { stdio: 'pipe' });
  };

  /** Leaves the disk no space: its size becomes what it holds, which others add to until it is. */
  async function fill(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const { blocks, bfree, bsize } = await statfs(disk);
      try {
        return resize((blocks - bfree) * bsize);
      } catch (error) {
        if (tries > 100) throw error;
      }
    }
  }

  /** Clients write while the disk is full, and until there is space and they are acknowledged again. */
  async function whileFull(work: () => Promise<void>): Promise<void> {
    const enough = new AbortController();
    const clients = [1, 2].map(() => ledger.write(ask, enough.signal));
    clients.push(uploads.write(enough.signal));
    const more = async (): Promise<void> => {
      const [threads, uploaded] = [ledger.threads.size, uploads.acknowledged.length];
      const grow = (): void => {
        expect(ledger.threads.size).toBeGreaterThan(threads + 3);
        expect(uploads.acknowledged.length).toBeGreaterThan(uploaded);
      };
      await vi.waitFor(grow, { timeout: 120_000, interval: 100 });
    };
    try {
      await more();
      await fill();
      const refused = ledger.refused;
      await work();
      await vi.waitFor(() => expect(ledger.refused).toBeGreaterThan(refused), { timeout: 120_000, interval: 100 });
      resize(wide);
      if (!isServing) await startAgain();
      await more();
    } finally {
      resize(wide);
      enough.abort();
      await Promise.all(clients);
    }
    const lost = async (): Promise<string[]> => [...(await ledger.missing(ask)), ...uploads.missing()];
    await vi.waitFor(async () => expect(await lost()).toEqual([]), { timeout: 120_000, interval: 500 });
  }
  let isServing = true;
  async function startAgain(): Promise<void> {
    await fixture.startAgain();
    isServing = true;
  }

  test('loses nothing, names no file to clients, and is over with space', async () => {
    const answers: string[] = [];
    const failed = async (path: string, body: unknown): Promise<string> => {
      const { url } = await fixture.control.getDeployment(deploymentId);
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': fixture.service.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer = `${response.status} ${await response.text()}`;
      if (!response.ok) answers.push(answer);
      return answer;
    };
    await whileFull(async () => {
      await fixture.control.patchDeployment(deploymentId, { source_revision_config: { repo_ref: 'main' } });
      await newestIs('BUILD_FAILED');
      answers.push((await fixture.revisions(deploymentId))[0]?.status_message ?? '');
      const metadata = { long: randomBytes(300_000).toString('hex') };
      await vi.waitFor(async () => expect(await failed('/threads', { metadata })).toMatch(/^5/), { timeout: 120_000 });
      const input = { assistant_id: 'talk', input: { input: metadata.long } };
      await vi.waitFor(async () => expect(await failed('/runs/wait', input)).not.toContain('first'), {
        timeout: 120_000,
      });
      const tarball = Buffer.concat([Buffer.from([0x1f, 0x8b, 0x08]), randomBytes(100_000)]);
      const put = await putTarball(fixture, uploadedId, tarball).catch((error: unknown) => ({
        status: 500,
        text: String(error),
      }));
      expect(put.status).toBeGreaterThanOrEqual(500);
      answers.push(put.text);
    });
    expect(answers.length).toBeGreaterThan(3);
    const named = answers.filter((answer) => /\/tmp|base\/\d|pg_|landfall-/.test(answer) || answer.includes(disk));
    expect(named).toEqual([]);
    await fixture.control.patchDeployment(deploymentId, { source_revision_config: { repo_ref: 'main' } });
    await newestIs('DEPLOYED');
  });

  test('loses nothing where the service is killed meanwhile', async () => {
    await whileFull(async () => {
      await fixture.kill();
      isServing = false;
    });
    await newestIs('DEPLOYED');
    expect(isServing).toBe(true);
  });
});
