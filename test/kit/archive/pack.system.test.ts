import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { packSource } from '../../../src/kit/archive/pack.ts';
import { usualLimits } from '../../../src/kit/archive/walk.ts';
import { bytesOf, entriesOf, folderOf, pathsOf, problemsOf, touched } from './folder.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
/** Collects garbage, so that it does not count. */
const collected = (): void => {
  if (typeof collect === 'function') collect();
};

describe('a packed folder', () => {
  test('has the same bytes whatever the order, times, rights and empty folders', async () => {
    const one = await folderOf({ 'b.ts': 'two', 'a/c.ts': 'three', 'a.ts': 'one', run: '#!/bin/sh' });
    const other = await folderOf({ run: '#!/bin/sh', 'a.ts': 'one', 'a/c.ts': 'three', 'b.ts': 'two' });
    await touched(one, 'run', { mode: 0o755, at: new Date('2020-02-02') });
    await touched(other, 'run', { mode: 0o700, at: new Date('1999-09-09') });
    await touched(other, 'a.ts', { mode: 0o660, at: new Date('2024-04-04') });
    await mkdir(join(other, 'empty'));
    const [first, second] = [await packSource({ folder: one }), await packSource({ folder: other })];
    expect((await bytesOf(first)).equals(await bytesOf(second))).toBe(true);
    expect(first.ok && first.source.digest).toBe(second.ok && second.source.digest);
  });

  test('has exactly these bytes, as digests are compared across machines', async () => {
    const folder = await folderOf({
      'langgraph.json': '{"graphs":{}}\n',
      'src/graph.ts': 'export const a = 1;\n'.repeat(9),
    });
    const packed = await packSource({ folder });
    expect(packed).toMatchObject({
      source: { digest: 'sha256:ccf2c944096bd6e9ebaff3ba58e28448209705b0bfa9c369cd511d9b69a44ea5', size: 166 },
    });
  });

  test('says its size and digest beforehand, and gives the same bytes at every reading', async () => {
    const packed = await packSource({
      folder: await folderOf({ 'a.ts': 'a'.repeat(200_000), 'b.bin': { bytes: 70_000 } }),
    });
    const [first, again] = [await bytesOf(packed), await bytesOf(packed)];
    expect(first.equals(again)).toBe(true);
    const digest = `sha256:${createHash('sha256').update(first).digest('hex')}`;
    expect(packed).toMatchObject({ source: { size: first.length, digest, files: 2, unpackedBytes: 270_000 } });
  });

  test('has no trace of the machine in its gzip header: no time, name or system', async () => {
    const bytes = await bytesOf(await packSource({ folder: await folderOf({ a: 'a' }) }));
    expect([...bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  });

  test('holds sorted files without owner, the executable bit as only right, and links', async () => {
    const folder = await folderOf({ 'z.ts': 'z', 'bin/run': '#!', 'bin/link': { link: '../z.ts' } });
    await touched(folder, 'bin/run', { mode: 0o744, at: new Date() });
    const reported = (await entriesOf(await packSource({ folder }))).map(({ header }) => header);
    const common = { uid: 0, gid: 0, mtime: new Date('2000-01-01T00:00:00Z') };
    expect(reported).toMatchObject([
      { name: 'bin/link', type: 'symlink', linkname: '../z.ts', ...common },
      { name: 'bin/run', mode: 0o755, size: 2, ...common },
      { name: 'z.ts', mode: 0o644, size: 1, ...common },
    ]);
  });

  test('keeps long names, names of other alphabets and empty files', async () => {
    const long = `${'deep/'.repeat(40)}${'n'.repeat(200)}.txt`;
    const names = ['empty', 'grün.txt', '日本/語.txt', long].toSorted();
    const folder = await folderOf(Object.fromEntries(names.map((name) => [name, name === 'empty' ? '' : name])));
    const packed = await packSource({ folder });
    expect((await pathsOf(packed)).toSorted()).toEqual(names);
    const [entry] = (await entriesOf(packed)).filter(({ header }) => header.name === long);
    expect(Buffer.from(entry?.data ?? []).toString()).toBe(long);
  });

  test('is one that the tar of the system takes', async () => {
    const packed = await packSource({ folder: await folderOf({ 'a/b.ts': 'b', [`${'x'.repeat(150)}.ts`]: 'x' }) });
    const listed = execFileSync('tar', ['-tzf', '-'], { input: await bytesOf(packed), encoding: 'utf8' });
    expect(listed.trim().split('\n')).toEqual(['a/b.ts', `${'x'.repeat(150)}.ts`]);
  });

  test('is read piece by piece: its readers hold little of it', async () => {
    const folder = await folderOf({ a: 'a' });
    await writeFile(join(folder, 'big.bin'), randomBytes(24 * 1024 * 1024));
    const packed = await packSource({ folder });
    if (!packed.ok) throw new Error('it is packed');
    const before = process.memoryUsage().arrayBuffers;
    let [most, count] = [0, 0];
    for await (const bytes of packed.source.read()) {
      expect(bytes.length).toBeLessThan(256 * 1024);
      count += 1;
      if (count % 5 !== 0) continue;
      collected();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(16 * 1024 * 1024);
  });

  test('whose files changed since it was measured fails in the middle of a reading', async () => {
    const folder = await folderOf({ 'a.ts': 'one', 'b.ts': 'two' });
    const packed = await packSource({ folder });
    await appendFile(join(folder, 'b.ts'), ' and more');
    await expect(bytesOf(packed)).rejects.toThrow('b.ts was changed while the folder was packed');
    await rm(join(folder, 'b.ts'));
    await expect(bytesOf(packed)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('whose reader leaves early leaves nothing open', async () => {
    const packed = await packSource({ folder: await folderOf({ 'big.bin': { bytes: 5_000_000 }, a: 'a' }) });
    if (!packed.ok) throw new Error('it is packed');
    for await (const bytes of packed.source.read()) {
      expect(bytes.length).toBeGreaterThan(0);
      break;
    }
  });

  test('can be given up', async () => {
    const folder = await folderOf({ a: 'a' });
    const reason = new Error('enough');
    await expect(packSource({ folder, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a folder that cannot be packed', () => {
  test.each([
    ['a link to a file outside', { link: '../outside' }, 'leads out of the folder'],
    ['a link to a place of this machine', { link: '/etc/passwd' }, 'leads out of the folder'],
    ['a link to a drive', { link: 'C:/Windows' }, 'leads out of the folder'],
    ['a link that goes up behind a name', { link: 'sub/../../x' }, 'goes up again behind a name'],
    ['a link with a backslash', { link: '..\\outside' }, 'backslash'],
  ])('%s is reported with its path', async (_, content, words) => {
    const folder = await folderOf({ 'fine.ts': 'x', 'a/bad': content });
    await touched(folder, 'fine.ts', { mode: 0o644, at: new Date() });
    const leading = content.link.startsWith('../') ? { link: `../${content.link}` } : content;
    const reported = await problemsOf(await folderOf({ 'fine.ts': 'x', 'a/bad': leading }));
    expect(reported).toEqual([expect.stringMatching(new RegExp(`^a/bad: .*${words}`))]);
  });

  test.each([
    ['beside it', 'a/link', 'b.ts'],
    ['up and down again', 'a/b/link', '../../c.ts'],
    ['to something that is not there', 'link', 'nowhere'],
    ['to the root itself', 'a/link', '..'],
  ])('a link within is none: %s', async (_, path, link) => {
    const packed = await packSource({ folder: await folderOf({ 'x.ts': 'x', [path]: { link } }) });
    expect((await entriesOf(packed)).map(({ header }) => header.linkname).filter(Boolean)).toEqual([link]);
  });

  test('every problem is reported at once', async () => {
    const folder = await folderOf({
      'a/out': { link: '../../x' },
      'b/root': { link: '/' },
      'c/back\\slash': 'x',
      'd/new\nline': 'x',
    });
    const reported = await problemsOf(folder, { graphConfigPath: 'langgraph.json' });
    expect(reported.map((each) => each.split(':')[0])).toEqual([
      'a/out',
      'b/root',
      'c/back\\slash',
      'd/new?line',
      'langgraph.json',
    ]);
  });

  test('a socket, a pipe or a device is no content', async () => {
    const folder = await folderOf({ a: 'a' });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      expect(await problemsOf(folder)).toEqual([
        expect.stringContaining('pipe: this is no file, folder or link'),
        expect.stringContaining('socket: this is no file, folder or link'),
      ]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('reports a missing folder, a file, and an empty folder', async () => {
    const folder = await folderOf({ file: 'x' });
    expect(await problemsOf(join(folder, 'nowhere'), { graphConfigPath: 'a' })).toEqual([
      expect.stringContaining('there is no such file or folder'),
    ]);
    expect(await problemsOf(join(folder, 'file'))).toEqual([expect.stringContaining('this is no folder')]);
    await rm(join(folder, 'file'));
    expect(await problemsOf(folder)).toEqual([expect.stringContaining('holds nothing to pack')]);
  });

  test('limits files, their bytes and the packed bytes, and names the largest', async () => {
    const folder = await folderOf({ 'a.bin': { bytes: 3_000 }, 'b.bin': { bytes: 2_000 }, 'c.bin': { bytes: 10 } });
    const limited = (limits: Partial<typeof usualLimits>) =>
      problemsOf(folder, { limits: { ...usualLimits, ...limits } });
    expect(await limited({ entries: 2 })).toEqual([
      expect.stringMatching(/more than 2 files and links: name .*\.gitignore or \.landfallignore/),
    ]);
    expect(await limited({ unpackedBytes: 4_000 })).toEqual([
      expect.stringMatching(/5\.0 kB together, and may have 4\.0 kB; the largest are a\.bin \(3\.0 kB\), b\.bin/),
    ]);
    expect(await limited({ packedBytes: 50 })).toEqual([expect.stringContaining('packed it has more than 50 bytes')]);
    expect(await limited({ entries: 3 })).toEqual([]);
  });

  test.each([
    ['is not there', { a: 'a' }, 'langgraph.json: this graph configuration is not in the folder'],
    ['is ignored', { 'langgraph.json': '{}', '.gitignore': '*.json' }, 'langgraph.json: .*left out by an ignore file'],
    [
      'lies in an ignored folder',
      { 'a/langgraph.json': '{}', '.gitignore': 'a/' },
      'langgraph.json: .*not in the folder',
    ],
  ])('reports the file name if the graph configuration %s', async (_, content, words) => {
    const reported = await problemsOf(await folderOf({ b: 'b', ...content }), { graphConfigPath: './langgraph.json' });
    expect(reported).toEqual([expect.stringMatching(new RegExp(words))]);
  });

  test('suggests one from another folder', async () => {
    const folder = await folderOf({ 'agent/langgraph.json': '{}' });
    const packed = await packSource({ folder, graphConfigPath: 'langgraph.json' });
    expect(packed).toMatchObject({ problems: [{ suggestion: 'agent/langgraph.json' }] });
  });
});

test('what is packed can be unpacked by anybody', async () => {
  const folder = await folderOf({ 'a.ts': 'a' });
  await writeFile(join(folder, 'b.ts'), 'b'.repeat(100_000));
  const bytes = gunzipSync(await bytesOf(await packSource({ folder })));
  expect(bytes.length % 512).toBe(0);
});
