import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readLocalCommand, runLocal, usualPort } from '../../../../src/services/control/local-command.ts';
import { httpControl } from '../http-control.ts';
import { fromImage, fromUpload, refusalOf } from '../service-fixture.ts';

describe('the command line', () => {
  const usual = {
    port: usualPort,
    data: '.landfall',
    allowGit: [],
    basePath: '',
    fieldNames: 'contract',
    graphConfigLater: false,
    json: false,
    hosting: 'any',
    watchGit: 'folders',
    running: { kind: 'process', privateWebhooks: false },
  };
  test.each([
    ['no arguments use the defaults', [], {}],
    ['a port', ['--port', '0'], { port: 0 }],
    ['several folders', ['--allow-git', 'a', '--allow-git', 'b'], { allowGit: ['a', 'b'] }],
    ['a hosting', ['--hosting', 'self-hosted'], { hosting: 'self-hosted' }],
    ['the watched repositories', ['--watch-git', 'off'], { watchGit: 'off' }],
    [
      'a registry',
      ['--registry', 'registry.example.com/agents'],
      { registry: { host: 'registry.example.com', path: 'agents', protocol: 'https' } },
    ],
    ['a base path', ['--base-path', '/api-host'], { basePath: '/api-host' }],
    ['the public address', ['--public-url', 'https://a.test/b/'], { publicUrl: 'https://a.test/b' }],
    [
      'the public address of agents',
      ['--public-url', 'https://a.test', '--agents-url', 'https://agents.test/'],
      { publicUrl: 'https://a.test', agentsUrl: 'https://agents.test' },
    ],
    ['webhooks into private networks', ['--private-webhooks'], { running: { privateWebhooks: true } }],
    ['a bound of previews', ['--max-previews', '20'], { maxPreviews: 20 }],
    ['a graph configuration that comes later', ['--graph-config-later'], { graphConfigLater: true }],
    [
      'all other options',
      ['--json', '--data', 'd', '--field-names', 'public'],
      { json: true, data: 'd', fieldNames: 'public' },
    ],
  ])('%s', (_, args, read) => {
    expect(readLocalCommand(args)).toMatchObject({ ok: true, command: { ...usual, ...read } });
  });

  test.each<[what: string, args: string[], output: string]>([
    ['an invalid port', ['--port', 'http'], '--port http'],
    ['a port out of range', ['--port', '70000'], '--port 70000'],
    ['a base path with a slash at its end', ['--base-path', '/a/'], '--base-path'],
    ['an invalid address', ['--public-url', 'a.test'], '--public-url (an unreadable address)'],
    ['an address with a user name', ['--public-url', 'https://me@a.test'], '--public-url https://a.test/: the address'],
    ['an invalid address of agents', ['--agents-url', 'a.test'], '--agents-url (an unreadable address)'],
    [
      'an address of agents without a public one',
      ['--agents-url', 'https://a.test'],
      '--agents-url needs --public-url',
    ],
    ['a data folder without a name', ['--data', ''], '--data is empty'],
    ['an allowed folder without a name', ['--allow-git', ''], '--allow-git is empty'],
    ['an unknown spelling', ['--field-names', 'own'], 'contract or public'],
    ['an unknown hosting', ['--hosting', 'here'], 'any or cloud or self-hosted'],
    ['an unknown value for watched repositories', ['--watch-git', 'yes'], 'folders or all or off'],
    ['a bound of previews that is no number', ['--max-previews', 'few'], '--max-previews few is no number'],
    ['an invalid registry', ['--registry', 'https://registry.example.com'], '--registry is a host'],
    ['an option with a typo', ['--jason'], 'Unknown option --jason; did you mean --json?'],
    ['an unknown option', ['--verbose'], 'Unknown option --verbose.'],
    ['an extra argument', ['up'], 'Unexpected argument up.'],
    ['an operator command with a typo', ['tenant', 'list'], 'Unexpected argument tenant; did you mean tenants?'],
  ])('%s is reported', async (_, args, word) => {
    expect(readLocalCommand(args)).toMatchObject({ ok: false, problem: expect.stringContaining(word) });
    const output: string[] = [];
    const around = {
      env: {},
      say: () => undefined,
      printError: (line: string) => output.push(line),
      leave: Promise.resolve(),
    };
    expect(await runLocal(args, around)).toBe(2);
    expect(output).toEqual([expect.stringMatching(/^[^\n]+\nAll options: landfall local --help$/)]);
  });
});

test('the error for a misspelled option omits its value', () => {
  expect(readLocalCommand(['--alow-git=lf_1'])).toEqual({
    ok: false,
    problem: 'Unknown option --alow-git; did you mean --allow-git?',
  });
});

test('a registry without credentials is reported before anything starts', async () => {
  const output: string[] = [];
  const around = {
    env: {},
    say: () => undefined,
    printError: (line: string) => output.push(line),
    leave: Promise.resolve(),
  };
  expect(await runLocal(['--registry', 'registry.example.com'], around)).toBe(2);
  expect(output).toEqual([expect.stringContaining('LANDFALL_REGISTRY_USER and LANDFALL_REGISTRY_PASSWORD')]);
});

describe('the program', () => {
  const main = join(import.meta.dirname, '../../../../src/services/control/main.ts');
  const ready = z.strictObject({
    url: z.string(),
    api_key: z.string(),
    tenant_id: z.string(),
    sign_in_link: z.string().regex(/^https:\/\/landfall\.test\/api\/console#code=[\w-]{43}$/),
  });
  const running: ChildProcess[] = [];
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'landfall-local-'));
    // As root, the database server runs as another user, who needs access.
    chmodSync(root, 0o711);
  });
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  function start() {
    const { DATABASE_URL: _, ...env } = process.env;
    const flags = ['--port', '0', '--json', '--public-url', 'https://landfall.test/api', '--field-names', 'public'];
    const child = spawn(process.execPath, [main, ...flags, '--data', join(root, 'data')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    running.push(child);
    const said: string[] = [];
    const first = new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        said.push(line);
        resolve(line);
      });
    });
    const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    return {
      child,
      said,
      ended,
      output: text(child.stderr),
      ready: first.then((line) => ready.parse(JSON.parse(line))),
    };
  }

  test('prints its address, survives a kill, refuses a second instance and exits', async () => {
    const first = start();
    const before = await first.ready;
    expect(before.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { id, url } = await httpControl(before.url, before.api_key).createDeployment(fromImage());
    expect(url).toBe(`https://landfall.test/api/agents/${id}`);
    // A spelling decides nothing else.
    const withoutGraphConfig = { ...fromUpload(), source_revision_config: {} };
    expect(await refusalOf(httpControl(before.url, before.api_key).createDeployment(withoutGraphConfig))).toMatchObject(
      {
        status: 400,
        detail: expect.stringContaining('graph_config_path is required'),
      },
    );
    first.child.kill('SIGKILL');
    await first.ended;

    const second = start();
    const after = await second.ready;
    expect(after.sign_in_link).not.toBe(before.sign_in_link);
    expect({ ...after, url: '', sign_in_link: '' }).toEqual({ ...before, url: '', sign_in_link: '' });
    const signIn = async ({ sign_in_link: link }: { sign_in_link: string }) =>
      fetch(`${after.url}/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: 'https://landfall.test' },
        body: JSON.stringify({ code: link.split('#code=')[1] }),
      });
    const signedIn = await signIn(after);
    expect(signedIn.status).toBe(201);
    expect(signedIn.headers.get('set-cookie')).toMatch(/; Path=\/api; HttpOnly; SameSite=Strict; Secure$/);
    expect([(await signIn(after)).status, (await signIn(before)).status]).toEqual([401, 401]);
    const control = httpControl(after.url, after.api_key);
    const revision = async () => (await control.listRevisions(id, {})).resources[0];
    await expect.poll(async () => (await revision())?.status).toBe('DEPLOY_FAILED');

    const third = start();
    expect((await third.ended).code).toBe(1);
    expect(await third.output).toMatch(/did not start: .*(uses|use)/);

    const requested = performance.now();
    second.child.kill('SIGTERM');
    // A terminal signals us and our parent process, which passes the signal on.
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - requested).toBeLessThan(10_000);
    expect(second.said).toHaveLength(1);
    expect(await second.output).not.toContain(after.api_key);
  });
});
