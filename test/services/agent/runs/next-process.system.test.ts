import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, sharedDatabase } from './two-servers.ts';
import type { Servers } from './two-servers.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await sharedDatabase();
});
afterAll(() => servers.close());

test('a client at a stopping process gets no result of a run that continues', async () => {
  const leaving = await servers.start();
  const [here, there] = [asking(leaving), asking(await servers.start())];
  const place = await here.run(await here.thread(), { assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 1500 } });
  await until(async () => ((await there.status(place)) === 'running' ? true : undefined));
  const waits = await here.get(`${place}/join`);
  const requested = here.get(`${place}/join`);
  const otherThread = there.json(there.get(`${place}/join`));
  await leaving.close();
  // A response that had started, with newlines, breaks off; another one returns an error.
  const reported = async (answer: Response) => answer.text().then((text) => `${answer.status} ${text}`, String);
  expect(await reported(waits)).toMatch(/^ServerStopped: .*another process goes on with the run/);
  expect(await reported(await requested)).toMatch(/^(503 .*|ServerStopped: .*)another process goes on with the run/);
  expect(await otherThread).toMatchObject({ output: 'hello Ada' });
  expect(await there.status(place)).toBe('success');
  expect(servers.lines.join('\n')).not.toContain('mistake');
});

test('a stopping process does not pick up the runs that it released', async () => {
  const own = await sharedDatabase();
  try {
    const leaving = await own.start({ drainMs: 600_000 });
    const agent = asking(leaving);
    const later = { assistant_id: 'echo', input: { input: 'later' }, after_seconds: 3600 };
    await agent.run(await agent.thread(), later);
    // Meanwhile it polls for orphaned runs, several times a second.
    const slow = { assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 1000 } };
    const place = await agent.run(await agent.thread(), slow);
    await until(async () => ((await agent.status(place)) === 'running' ? true : undefined));
    await leaving.close();
    expect(own.lines.join('\n')).not.toContain('was left by');
  } finally {
    await own.close();
  }
});
