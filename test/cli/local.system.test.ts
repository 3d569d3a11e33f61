import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../kit/postgres/postgres.ts';
import { folderOf, root, runCli, runHere } from './run-cli.ts';

let database: TestPostgres | undefined;
let folder: ReturnType<typeof folderOf> | undefined;
beforeEach(() => {
  folder = folderOf({});
});
afterEach(async () => {
  await database?.stop();
  database = undefined;
  folder?.remove();
});

async function local(args: readonly string[], onOutput?: Parameters<typeof runCli>[1]) {
  database = await startTestPostgres();
  return runCli(['local', '--data', folder?.path ?? '', ...args], { env: { DATABASE_URL: database.url }, ...onOutput });
}

describe('landfall local', () => {
  test('prints one line of JSON when it is ready, and exits on request', async () => {
    let answered: unknown;
    const end = await local(['--port', '0', '--json'], {
      onOutput: (text, send, which) => {
        if (which === 'err' || answered !== undefined || !text.endsWith('\n')) return;
        answered = fetch(`${urlIn(text)}/ok`)
          .then((response) => response.json())
          .finally(() => send('SIGINT'));
      },
    });
    expect(await answered).toEqual({ ok: true });
    expect(end.code).toBe(0);
    expect(end.out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(end.out)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: expect.stringMatching(/^lf_/),
      tenant_id: expect.any(String),
      sign_in_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console#code=/),
    });
  });

  test('prints commands that work in the folder of an agent', async () => {
    const end = await local(['--port', '0'], {
      onOutput: (text, send, which) => {
        if (which === 'out' && text.includes('/v2/deployments')) send('SIGINT');
      },
    });
    const lines = /^ {2}node '(.+)' init\n {2}node '(.+)' deploy\n/m.exec(end.out) ?? [];
    expect(lines.slice(1)).toEqual([join(root, 'bin/landfall.cjs'), join(root, 'bin/landfall.cjs')]);
    expect(end.code).toBe(0);
  });

  test('reports the port that is taken, and exits with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const end = await local(['--port', port]);
    taken.close();
    expect(end.code).toBe(1);
    expect(end.err).toContain(`Port ${port} is taken. Choose another one with --port`);
  });

  test('reads its own flags, and suggests the right ones for a wrong one', async () => {
    const end = await runCli(['local', '--prot', '0']);
    expect(end.code).toBe(2);
    expect(end.err).toContain('Unknown option --prot; did you mean --port?');
    expect(end.err).toContain('All options: landfall local --help');
    expect(end.err).not.toContain('--allow-git DIR');
  });

  test('is in the help', async () => {
    expect((await runHere(['help', 'local'])).out).toContain('landfall local --help');
  });
});

function urlIn(line: string): string {
  const result: unknown = JSON.parse(line);
  return typeof result === 'object' && result !== null && 'url' in result ? String(result.url) : '';
}
