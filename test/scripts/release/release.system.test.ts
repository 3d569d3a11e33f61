import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { list } from 'tar';
import { version } from '../../../src/kit/version.ts';
import { copyCheckout } from './copy-checkout.ts';

const base = mkdtempSync(join(tmpdir(), 'landfall-release-'));
const checkout = join(base, 'checkout');
const remote = join(base, 'remote.git');
const folder = join(base, 'out');
const outputs = join(base, 'outputs');
afterAll(() => rmSync(base, { recursive: true, force: true }));

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@test', ...args], { cwd: checkout, encoding: 'utf8' });
const commitOf = (ref: string): string => git('ls-remote', 'origin', ref).split('\t')[0] ?? '';

/** Runs a script of the release in the checkout, as the workflow does. */
function run(script: string, ...args: string[]) {
  const path = join(checkout, 'scripts/release', script);
  const env = { ...process.env, GITHUB_OUTPUT: outputs, GITHUB_REPOSITORY: 'Acme/Landfall' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    cwd: checkout,
    env,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

/** Commits a change, tags it and pushes the tag, as a maintainer does. */
function tagChange(tag: string): void {
  git('commit', '--quiet', '--allow-empty', '--message', tag);
  git('tag', '--annotate', '--message', tag, tag);
  git('push', '--quiet', 'origin', tag);
}

beforeAll(() => {
  copyCheckout(checkout);
  const manifest = join(checkout, 'package.json');
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace('github.com/OWNER/landfall', 'github.com/Acme/Landfall'),
  );
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  git('init', '--quiet', '--initial-branch', 'main');
  git('remote', 'add', 'origin', remote);
  git('add', '--all', '--', ':!node_modules');
});

describe('a release in a local repository', () => {
  test('is refused before the changelog has the version', () => {
    expect(run('make.ts', `v${version}`, folder)).toEqual({
      code: 1,
      out: '',
      err: `CHANGELOG.md has no section ${version}. Rename "Unreleased" to it, with the date.\n`,
    });
  });

  test('ends with the package, its checksums and the notes of its version', async () => {
    const changelog = join(checkout, 'CHANGELOG.md');
    const text = readFileSync(changelog, 'utf8').replace('## Unreleased', `## ${version} (2026-12-01)`);
    writeFileSync(changelog, text);
    tagChange(`v${version}`);
    expect(run('make.ts', `v${version}`, folder)).toMatchObject({ code: 0 });
    const assets = join(folder, 'assets');
    const tarball = `landfall-${version}.tgz`;
    expect(readdirSync(assets)).toEqual(['SHA256SUMS', tarball]);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: assets });
    const notes = readFileSync(join(folder, 'notes.md'), 'utf8');
    expect(text).toContain(notes);
    expect(notes).toMatch(/^- /);
    const packed: string[] = [];
    await list({ file: join(assets, tarball), onentry: ({ path }) => packed.push(path) });
    for (const name of [
      'bin/landfall.cjs',
      'bin/lib/cli.js',
      'action.yml',
      'dist/index.js',
      'bin/lib/console/index.html',
    ])
      expect(packed).toContain(`package/${name}`);
    expect(readFileSync(outputs, 'utf8').split('\n')).toEqual([
      `version=${version}`,
      'npm-tag=latest',
      'prerelease=false',
      'image=ghcr.io/acme/landfall',
      `image-tags=ghcr.io/acme/landfall:${version},ghcr.io/acme/landfall:0.1,ghcr.io/acme/landfall:0,ghcr.io/acme/landfall:latest`,
      '',
    ]);
  });
});

test('a release goes into a new folder', () => {
  expect(run('make.ts', `v${version}`, base)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${base} exists. Name a new folder: all that is in it is published.\n`),
  });
});

describe('the tag that workflows follow', () => {
  test('moves to a newer release, and not back to an older one or a prerelease', () => {
    for (const tag of ['v1.0.0', 'v1.2.0', 'v1.10.0', 'v1.11.0-rc.1', 'v2.0.0']) tagChange(tag);
    expect(run('move-major-tag.ts', 'v1.2.0').out).toBe('v1 stays: v1.10.0 is newer than v1.2.0.\n');
    expect(commitOf('refs/tags/v1')).toBe('');
    expect(run('move-major-tag.ts', 'v1.10.0').out).toBe('v1 is v1.10.0 now.\n');
    expect(commitOf('refs/tags/v1')).toBe(commitOf('refs/tags/v1.10.0^{}'));
    expect(run('move-major-tag.ts', 'v1.11.0-rc.1').out).toBe('v1 stays: v1.11.0-rc.1 is a prerelease.\n');
    tagChange('v1.10.1');
    expect(run('move-major-tag.ts', 'v1.10.1')).toMatchObject({ code: 0, out: 'v1 is v1.10.1 now.\n' });
    expect(commitOf('refs/tags/v1')).toBe(commitOf('refs/tags/v1.10.1^{}'));
    expect(commitOf('refs/tags/v2')).toBe('');
  });

  test('is refused for a tag that is not a version', () => {
    expect(run('move-major-tag.ts', 'main')).toMatchObject({
      code: 1,
      err: expect.stringContaining('main is not a version.'),
    });
  });
});
