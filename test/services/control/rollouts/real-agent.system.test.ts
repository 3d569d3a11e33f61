import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { exampleFiles } from './example-files.ts';
import {
  requestAgent,
  closeAll,
  deploy,
  goesLive,
  keyHeader,
  logOf,
  openMachine,
  startService,
  until,
} from './running-service.ts';

afterEach(closeAll);

const run = (url: string, path: string, input: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...keyHeader, 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'echo', input, stream_mode: ['updates'] }),
    ...(signal ? { signal } : {}),
  });

/** Fetches the API reference that the deployment serves: its page, every file it loads, and its OpenAPI document. */
async function pageIsWhole(url: string): Promise<void> {
  const page = await requestAgent(url, '/docs');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
  const wanted = [...(await page.text()).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
  expect(wanted.length).toBeGreaterThan(2);
  for (const address of [...wanted, 'openapi.json']) {
    const path = new URL(address, `${url}/docs`).href.replace(url, '');
    const answer = await requestAgent(url, path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(50);
  }
}

describe('over HTTP', () => {
  test(
    'an example runs on the real agent server, and is replaced while it streams',
    {
      meta: { claims: ['agent.server.every-deployment', 'agent.server.own-address', 'agent.server.docs'] },
    },
    async () => {
      const machine = await openMachine(exampleFiles());
      const instance = await startService(machine, { compute: processCompute({ clock: systemClock, drainMs: 5_000 }) });
      const requested = await deploy(instance);
      const revision = await goesLive(instance, requested);
      expect(await logOf(instance, requested.revisionId, 'build')).toContain(
        'Installing: npm ci (package-lock.json selects npm)',
      );
      expect(await (await requestAgent(requested.url, '/info')).text()).toContain(requested.revisionId);
      const answer = await run(requested.url, '/runs/wait', { input: 'world' });
      expect(await answer.text()).toContain('"output":"hello world"');
      await pageIsWhole(requested.url);

      const slow = await run(requested.url, '/runs/stream', { input: 'old', sleep_ms: 3_000 });
      const again = await instance.control.redeployRevision(requested.id, requested.revisionId);
      const second = { id: requested.id, revisionId: again.latest_revision_id ?? '' };
      const { source_revision_config } = await goesLive(instance, second);
      expect(source_revision_config.repo_commit_sha).toBe(revision.source_revision_config.repo_commit_sha);
      expect(await (await requestAgent(requested.url, '/info')).text()).toContain(second.revisionId);
      const events = await slow.text();
      expect(events).toMatch(/^event: metadata\n/);
      expect(events).toContain('"output":"hello old"');
      await until(
        async () => (await logOf(instance, requested.revisionId, 'deploy')).at(-1) === 'The agent was stopped.',
      );

      const leaving = new AbortController();
      const left = await run(requested.url, '/runs/stream', { input: 'x', sleep_ms: 60_000 }, leaving.signal);
      leaving.abort();
      await expect(left.text()).rejects.toThrow('aborted');

      const { id } = requested;
      const held = await instance.control.redeployRevision(id, requested.revisionId, { holdSeconds: 600 });
      const candidate = { id, revisionId: held.latest_revision_id ?? '' };
      const { control } = instance;
      await until(async () => (await control.getRevision(id, candidate.revisionId)).hold?.ends_at != null);
      const address = (await control.getRevision(id, candidate.revisionId)).hold?.address ?? '';
      await until(async () => (await requestAgent(address, '/ok')).ok);
      expect(await (await run(address, '/runs/wait', { input: 'held' })).text()).toContain('"output":"hello held"');
      expect(await (await requestAgent(requested.url, '/info')).text()).toContain(second.revisionId);
      await control.promoteRevision(id, candidate.revisionId);
      await goesLive(instance, candidate);
      expect(await (await requestAgent(requested.url, '/info')).text()).toContain(candidate.revisionId);
    },
  );
});
