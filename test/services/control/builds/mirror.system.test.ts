import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { mirrorFolder } from '../../../../src/services/control/builds/mirror.ts';
import { stepFailed, succeeded } from '../../../../src/services/control/builds/build.ts';
import { workplace, type Workplace } from './building.ts';
import { gitOverHttp } from './git-over-http.ts';
import { commit, git, plainAgent, writePrograms, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = (files: Files = {}) => workplace({ ...plainAgent, ...files }, atTheEnd);

const mirrorOf = ({ dataDir, repo }: Workplace, tenantId = 't-1', integrationId?: string): string =>
  mirrorFolder(dataDir, { tenantId, integrationId }, repo);
const packs = (mirror: string): string[] =>
  readdirSync(join(mirror, 'objects/pack')).filter((name) => name.endsWith('.pack'));

test('rebuilds a commit in the mirror without the repository', async () => {
  const here = place();
  await here.build();
  rmSync(join(here.repo, '.git/objects'), { recursive: true });
  const again = await here.build({ request: { commit: here.head, revisionId: 'r-2' } });
  expect(again.from).toEqual({ kind: 'commit', commit: here.head });
  expect(readFileSync(join(again.folder, 'source/graph.js'), 'utf8')).toBe(plainAgent['graph.js']);
});

test.each([
  ['another tenant', { tenantId: 't-2' }],
  ['another integration of the same tenant', { integrationId: 'i-1' }],
])('%s gets no commit from the mirror', async (_, owner) => {
  const here = place();
  const gone = commit(here.repo, { 'private.txt': 'canary' });
  await here.build();
  git(here.repo, 'reset', '--hard', '--quiet', here.head);
  git(here.repo, 'reflog', 'expire', '--expire=now', '--all');
  git(here.repo, 'gc', '--quiet', '--prune=now');
  expect(await here.reason({ request: { commit: gone, ...owner } })).toContain(`has no commit ${gone}`);
  const mine = await here.build({ request: { commit: gone, revisionId: 'r-2' } });
  expect(readFileSync(join(mine.folder, 'source/private.txt'), 'utf8')).toBe('canary');
});

test('a second build fetches only new objects into the same mirror', async () => {
  const here = place({ 'large.txt': 'x'.repeat(10_000) });
  await here.build();
  const objects = (): number => Number(git(mirrorOf(here), 'count-objects').split(' ')[0]);
  const before = objects();
  const head = commit(here.repo, { 'small.txt': 'new' });
  const again = await here.build({ request: { revisionId: 'r-2' } });
  expect(again.from).toEqual({ kind: 'commit', commit: head });
  // A commit, its tree, and the one new file.
  expect(objects() - before).toBe(3);
  expect(git(mirrorOf(here), 'fsck', '--no-dangling')).toBe('');
});

test('a build shares no file with the mirror', async () => {
  const here = place();
  const { folder } = await here.build();
  const files = execFileSync('find', [mirrorOf(here), folder, '-type', 'f', '-links', '+1'], { encoding: 'utf8' });
  expect(files).toBe('');
  expect(existsSync(join(folder, 'source/.git/objects/info/alternates'))).toBe(false);
});

test.each<[string, (mirror: string) => void]>([
  ['its objects are missing', (mirror) => rmSync(join(mirror, 'objects'), { recursive: true })],
  ['it is incomplete', (mirror) => rmSync(join(mirror, 'HEAD'))],
  ['its packs are truncated', (mirror) => packs(mirror).forEach((name) => cut(join(mirror, 'objects/pack', name)))],
  ['its loose objects are truncated', (mirror) => looseObjects(mirror).forEach(cut)],
  ['its configuration is invalid', (mirror) => writeFileSync(join(mirror, 'config'), '[core\n')],
  ['its list of shallow commits is invalid', (mirror) => writeFileSync(join(mirror, 'shallow'), 'x\n')],
])('recreates a mirror when %s', async (_, damage) => {
  const here = place();
  await here.build();
  damage(mirrorOf(here));
  const head = commit(here.repo, { 'small.txt': 'new' });
  const again = await here.build({ request: { revisionId: 'r-2' } });
  expect(again.from).toEqual({ kind: 'commit', commit: head });
  expect(git(mirrorOf(here), 'fsck', '--no-dangling')).toBe('');
});

const cut = (file: string): void => {
  rmSync(file);
  writeFileSync(file, 'not what it was');
};
const looseObjects = (mirror: string): string[] =>
  readdirSync(join(mirror, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\/[0-9a-f]{2}$/.test(entry.parentPath))
    .map(({ parentPath, name }) => join(parentPath, name));

test('reports a timed-out clone as a timeout, and keeps the mirror', async () => {
  const here = place();
  await here.build();
  commit(here.repo, { 'small.txt': 'new' });
  const before = packs(mirrorOf(here));
  const output = await here.reason({ request: { revisionId: 'r-2' }, settings: { bounds: { cloneMs: 1 } } });
  expect(output).toBe(`${here.repo} could not be cloned. (git: it took longer than 0.001 s and was stopped)`);
  expect([packs(mirrorOf(here)), here.lines.filter((line) => line.includes('damaged'))]).toEqual([before, []]);
});

test('cleans up what a killed git left in a mirror', async () => {
  const here = place();
  await here.build();
  const mirror = mirrorOf(here);
  for (const name of ['shallow.lock', 'HEAD.lock', 'config.lock', 'objects/pack/tmp_pack_x']) {
    writeFileSync(join(mirror, name), '');
  }
  commit(here.repo, { 'small.txt': 'new' });
  await here.build({ request: { revisionId: 'r-2' } });
  const left = readdirSync(mirror, { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => /\.lock$|tmp_/.test(name))).toEqual([]);
});

test('concurrent builds of one repository all succeed', async () => {
  const here = place();
  const builds = await Promise.all(['r-1', 'r-2', 'r-3'].map((revisionId) => here.build({ request: { revisionId } })));
  expect(builds.map(({ from }) => from)).toEqual(builds.map(() => ({ kind: 'commit', commit: here.head })));
  expect(readdirSync(join(here.dataDir, 'mirrors/t-1'))).toHaveLength(1);
});

test('clones a private repository with a token that is in no command line or file', async () => {
  const here = place();
  const header = `Basic ${btoa('x-access-token:canary-token')}`;
  const commands: string[] = [];
  const serve = gitOverHttp(here.allowed);
  const server = createServer((request, response) => {
    commands.push(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }));
    if (request.headers.authorization === header) return serve(request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTheEnd.push(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  const repoUrl = `http://127.0.0.1:${address.port}/agent`;
  expect(await here.reason({ request: { repoUrl } })).toContain('is private or does not exist');
  const token = async () => succeeded('canary-token');
  const ended: string[] = [];
  const endToken = async (spent: string): Promise<void> => void ended.push(`${spent} after ${here.lines.length} lines`);
  const request = { repoUrl, integrationId: 'i-1', token, endToken, buildCommand: 'echo builds' };
  const { commit: built } = await here.build({ request });
  expect(built).toBe(here.head);
  expect(ended).toEqual([`canary-token after ${here.lines.indexOf('Building: echo builds') - 1} lines`]);
  const secret = /canary-token|eC1hY2Nlc3MtdG9rZW4/;
  expect(commands.filter((lines) => secret.test(lines))).toEqual([]);
  expect(commands.some((lines) => lines.includes('git fetch'))).toBe(true);
  expect(filesHolding(here.dataDir, secret)).toEqual([]);
  expect(here.lines.join('\n')).not.toMatch(secret);
});

test('a build without a token for a private repository fails with the reason', async () => {
  const here = place();
  const token = async () => stepFailed('The integration i-1 does not hold this repository.');
  expect(await here.reason({ request: { token } })).toBe('The integration i-1 does not hold this repository.');
});

function filesHolding(root: string, pattern: RegExp): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => pattern.test(readFileSync(file, 'latin1')));
}

test('a killed fetch leaves no partial download behind', async () => {
  const here = place();
  await here.build();
  const script = [
    '#!/bin/sh',
    'case "$*" in *--no-write-fetch-head*) echo x >"$GIT_DIR/objects/pack/tmp_pack_x"; kill -9 $$ ;; esac',
    `exec "${execFileSync('which', ['git'], { encoding: 'utf8' }).trim()}" "$@"`,
  ];
  const programs = writePrograms(join(here.root, 'programs'), { git: script.join('\n') });
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH ?? ''}` };
  await here.reason({ request: { revisionId: 'r-2' }, settings: { env } });
  const left = readdirSync(here.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('tmp_'));
  expect(left).toEqual([]);
});

test.each<[what: string, repoRef: string, reason: RegExp]>([
  ['why the clone failed', 'gone', /gone/],
  ['that the token could not be ended', 'main', /GitHub did not answer/],
])('says %s where ending the token fails', async (_, repoRef, reason) => {
  const token = async () => succeeded('canary-token');
  const endToken = (): Promise<void> => Promise.reject(new Error('GitHub did not answer'));
  const ended = await place()
    .tryBuild({ request: { repoRef, token, endToken } })
    .catch((error: unknown) => error);
  const said = ended instanceof Error ? ended.message : JSON.stringify(ended);
  expect(said).toMatch(reason);
  expect(said).not.toContain('canary-token');
});
