import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { array, assert, asyncProperty, constant, constantFrom, integer, oneof, record } from 'fast-check';
import { create } from 'tar';
import { afterEach, describe, expect, test } from 'vitest';
import type { StepResult, BuiltFrom } from '../../../../src/services/control/builds/build.ts';
import { defaultTarBounds, type TarBounds } from '../../../../src/services/control/builds/tar-entries.ts';
import { unpackSource } from '../../../../src/services/control/builds/obtain-source.ts';
import { temporaryFolder, write } from './repositories.ts';
import { digestOf, endOfTar, entry, rawTar, rawTarball, tarballOf, type RawEntry } from './tarballs.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

interface Unpacked {
  end: StepResult<BuiltFrom>;
  into: string;
  /** The parent folder, which must not change. */
  around: string;
  lines: string[];
  warnings: string[];
}

async function unpack(
  bytes: Uint8Array,
  {
    bounds = defaultTarBounds,
    digest = digestOf(bytes),
    signal = new AbortController().signal,
  }: { bounds?: TarBounds; digest?: string; signal?: AbortSignal } = {},
): Promise<Unpacked> {
  const around = temporaryFolder(atTheEnd);
  const into = join(around, 'deep', 'source');
  mkdirSync(into, { recursive: true });
  const file = join(around, 'a.tar.gz');
  writeFileSync(file, bytes);
  const lines: string[] = [];
  const warnings: string[] = [];
  const warn = (warning: string): void => void warnings.push(warning);
  const log = (_level: string, line: string): void => void lines.push(line);
  return {
    end: await unpackSource({ kind: 'tarball', file, digest }, { into, log, warn, signal, bounds }),
    into,
    around,
    lines,
    warnings,
  };
}

/** Every path below a folder; does not follow symlinks. */
function tree(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((found) => {
      const path = join(below, found.name);
      return found.isDirectory() ? [path, ...tree(folder, path)] : [path];
    })
    .toSorted();
}

const reasonOf = ({ end }: Unpacked): string => (end.ok ? 'it was unpacked' : end.reason);

describe('what an uploaded folder lacks', () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
  const modules = '[submodule "a"]\n\tpath = libs/a\n\turl = ../a\n\tpath = libs/a\n[submodule "b"]\n\tpath = libs/b\n';

  test('is named in warnings', async () => {
    const { end, warnings } = await unpack(
      tarballOf({
        '.gitmodules': modules,
        'libs/b/index.js': '',
        'data/model.bin': pointer,
        'notes.txt': `# ${pointer}`,
      }),
    );
    expect(end.ok).toBe(true);
    expect(warnings).toEqual([
      'Submodules are not fetched, so 1 folder of this build is empty: "libs/a". Fetch them before you deploy (git submodule update --init; actions/checkout with submodules: true).',
      'Files in Git LFS are not fetched, so 1 file of this build is only a pointer: "data/model.bin". Fetch them before you deploy (git lfs pull; actions/checkout with lfs: true).',
    ]);
  });

  test.each([
    ['a path out of the folder', { '.gitmodules': '[submodule "a"]\n\tpath = ../../etc\n\tpath =\n' }],
    ['no list of submodules', { '.gitmodules': 'path\n=\n' }],
    ['a path with a null byte', { '.gitmodules': '\tpath = libs\0\n' }],
    ['a path below a file', { '.gitmodules': '\tpath = a.txt/libs\n', 'a.txt': 'x' }],
    ['a file larger than a pointer', { 'a.bin': pointer.padEnd(1024) }],
  ])('is not looked for behind %s', async (_, files) => {
    expect((await unpack(tarballOf(files))).warnings).toEqual([]);
  });

  test('is also named with a path that no file system takes', async () => {
    const { end, warnings } = await unpack(tarballOf({ '.gitmodules': `\tpath = ${'a'.repeat(300)}/b\n` }));
    expect(end.ok).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(/^Submodules are not fetched, so 1 folder of this build is empty/),
    ]);
  });
});

describe('a valid tarball', () => {
  test('is unpacked into files and folders', async () => {
    const bytes = tarballOf({ 'langgraph.json': '{}', 'src/graph.js': 'export {};\n', './dotted/x': 'x' });
    const { end, into, lines } = await unpack(bytes);
    expect(end).toEqual({ ok: true, value: { kind: 'tarball', digest: digestOf(bytes) } });
    expect(tree(into)).toEqual(['dotted', 'dotted/x', 'langgraph.json', 'src', 'src/graph.js']);
    expect(readFileSync(join(into, 'src/graph.js'), 'utf8')).toBe('export {};\n');
    expect(lines).toEqual([`Unpacking the source tarball ${digestOf(bytes)}.`, 'Unpacked 3 entries.']);
  });

  test('of common tools is accepted: folders, symlinks, hard links, long names', async () => {
    const folder = temporaryFolder(atTheEnd);
    const long = `${'a'.repeat(90)}/${'b'.repeat(90)}.txt`;
    write(folder, {
      'a/file.txt': 'text',
      'a/link.txt': '-> file.txt',
      'b/up.txt': '-> ../a/file.txt',
      [long]: 'long',
    });
    const file = join(folder, '..', `${relative(join(folder, '..'), folder)}.tgz`);
    await create({ cwd: folder, file, gzip: true }, ['.']);
    const bytes = readFileSync(file);
    atTheEnd.push(() => writeFileSync(file, ''));
    const { end, into } = await unpack(bytes);
    expect(end.ok).toBe(true);
    expect(readlinkSync(join(into, 'b/up.txt'))).toBe('../a/file.txt');
    expect(readFileSync(join(into, 'b/up.txt'), 'utf8')).toBe('text');
    expect(readFileSync(join(into, long), 'utf8')).toBe('long');
  });

  test('keeps only the executable bit of modes', async () => {
    const { into } = await unpack(
      rawTarball([
        { path: 'root', mode: 0o6777, text: 'x' },
        { path: 'plain', mode: 0o000, text: 'y' },
        { path: 'closed/', type: '5', mode: 0o000 },
      ]),
    );
    const modes = ['root', 'plain', 'closed'].map((name) =>
      (statSync(join(into, name)).mode & 0o7777 & ~0o077).toString(8),
    );
    expect(modes).toEqual(['700', '600', '700']);
  });

  test('may contain symlinks to symlinks in any order', async () => {
    const first: RawEntry = { path: 'lib.so', type: '2', link: 'lib.so.1' };
    const second: RawEntry = { path: 'lib.so.1', type: '2', link: 'lib.so.1.2' };
    const real: RawEntry = { path: 'lib.so.1.2', text: 'real' };
    for (const entries of [
      [first, second, real],
      [real, second, first],
    ]) {
      const { into, end } = await unpack(rawTarball(entries));
      expect(end.ok).toBe(true);
      expect(readFileSync(join(into, 'lib.so'), 'utf8')).toBe('real');
    }
  });

  test('may contain a hard link to an earlier file', async () => {
    const { into, end } = await unpack(
      rawTarball([
        { path: 'a', text: 'same' },
        { path: 'b', type: '1', link: './a' },
      ]),
    );
    expect(end.ok).toBe(true);
    expect(readFileSync(join(into, 'b'), 'utf8')).toBe('same');
  });

  test('ignores a global header that renames files, and a negative size', async () => {
    const global = { path: 'pax', type: 'g', text: pax('path', '../out') };
    const negative = entry({ path: 'x', raw: [[124, '\xff'.repeat(12)]] });
    const { end, around, into } = await unpack(
      gzipSync(Buffer.concat([entry(global), entry(fine), negative, endOfTar])),
    );
    expect(end.ok).toBe(true);
    expect(tree(around)).toEqual(['a.tar.gz', 'deep', 'deep/source', 'deep/source/fine.txt', 'deep/source/x']);
    expect(statSync(join(into, 'x')).size).toBe(0);
  });
});

const fine: RawEntry = { path: 'fine.txt', text: 'fine' };

describe('rejects a hostile archive with the reason and leaves nothing behind', () => {
  test.each<[string, readonly RawEntry[], string]>([
    ['a path outside', [{ path: '../out', text: 'x' }], '"../out" leads out of the archive.'],
    ['a path that leaves in the middle', [{ path: 'a/../../out', text: 'x' }], 'leads out of the archive.'],
    ['a path with .. that stays inside', [{ path: 'a/../b', text: 'x' }], 'leads out of the archive.'],
    ['an absolute path', [{ path: '/tmp/out', text: 'x' }], '"/tmp/out" is an absolute path.'],
    ['a drive letter', [{ path: 'c:/out', text: 'x' }], 'is an absolute path.'],
    ['a backslash', [{ path: '..\\out', text: 'x' }], 'holds a backslash or a control character.'],
    ['a newline in a name', [{ path: 'a\nb', text: 'x' }], 'holds a backslash or a control character.'],
    ['a symlink outside', [{ path: 'l', type: '2', link: '../out' }], '"l" is a link that leads out of the archive.'],
    [
      'a symlink too far up from a folder',
      [{ path: 'a/b/l', type: '2', link: '../../../x' }],
      'leads out of the archive.',
    ],
    ['an absolute symlink', [{ path: 'l', type: '2', link: '/etc/passwd' }], 'leads to an absolute path.'],
    [
      'a symlink with backslashes',
      [{ path: 'l', type: '2', link: '\\\\host\\share' }],
      'is a link that leads nowhere.',
    ],
    [
      'a symlink that goes up behind another symlink',
      [
        { path: 'd/deep/up', type: '2', link: '../..' },
        { path: 'l', type: '2', link: 'd/deep/up/..' },
      ],
      'goes up again behind a name.',
    ],
    [
      'a file below a symlink',
      [
        { path: 'l', type: '2', link: '.' },
        { path: 'l/file', text: 'x' },
      ],
      '"l/file" lies below "l", which is a link.',
    ],
    ['a file below a file', [fine, { path: 'fine.txt/x', text: 'x' }], 'which is a file.'],
    [
      'a symlink in place of a folder',
      [
        { path: 'd/x', text: 'x' },
        { path: 'd', type: '2', link: '.' },
      ],
      '"d" is in it twice.',
    ],
    [
      'a file in place of a symlink',
      [
        { path: 'l', type: '2', link: 'x' },
        { path: 'l', text: 'x' },
      ],
      '"l" is in it twice.',
    ],
    ['the same file twice', [fine, { path: './fine.txt', text: 'other' }], 'is in it twice.'],
    [
      'a hard link outside',
      [{ path: 'h', type: '1', link: '../../a.tar.gz' }],
      'is a hard link to something else than a file before it.',
    ],
    [
      'a hard link to an absolute path',
      [{ path: 'h', type: '1', link: '/etc/passwd' }],
      'is a hard link to something else',
    ],
    [
      'a hard link to a symlink',
      [
        { path: 'l', type: '2', link: 'fine.txt' },
        { path: 'h', type: '1', link: 'l' },
      ],
      'is a hard link to something else',
    ],
    [
      'a hard link to a later entry',
      [{ path: 'h', type: '1', link: 'fine.txt' }, fine],
      'is a hard link to something else',
    ],
    ['a character device', [{ path: 'null', type: '3' }], '"null" is a device.'],
    ['a block device', [{ path: 'disk', type: '4' }], 'is a device.'],
    ['a named pipe', [{ path: 'pipe', type: '6' }], '"pipe" is a named pipe.'],
    ['a socket or another type', [{ path: 's', type: 's' }], 'of a kind that is not taken'],
    ['a sparse file', [{ path: 's', type: 'S' }], 'of a kind that is not taken'],
    ['a symlink in place of the root', [{ path: './', type: '2', link: 'x' }], 'stands in the place of the root.'],
    [
      'a name too long for a file system',
      [{ path: 'pax', type: 'x', text: pax('path', 'n'.repeat(300)) }, fine],
      'has a name longer than 255 bytes.',
    ],
    [
      'a path that is too long',
      [{ path: 'pax', type: 'x', text: pax('path', `${'deep/'.repeat(300)}x`) }, fine],
      'is longer than 1024 bytes.',
    ],
    [
      'a path outside, in an extended header',
      [{ path: 'pax', type: 'x', text: pax('path', '../../out') }, fine],
      'leads out of the archive.',
    ],
    [
      'a symlink outside, in an extended header',
      [
        { path: 'pax', type: 'x', text: pax('linkpath', '../../out') },
        { path: 'l', type: '2', link: 'x' },
      ],
      'leads out of the archive.',
    ],
    [
      'an absolute path in a long name',
      [{ path: '././@LongLink', type: 'L', text: `/${'x'.repeat(200)}\0` }, fine],
      'is an absolute path.',
    ],
    [
      'an extended header that is too large',
      [{ path: 'pax', type: 'x', text: 'x'.repeat(1_100_000) }, fine],
      'A header in it is too large.',
    ],
  ])('%s', async (_, entries, output) => {
    const unpacked = await unpack(rawTarball([{ path: 'first.txt', text: 'first' }, ...entries]));
    expect(reasonOf(unpacked)).toContain("The source tarball can't be unpacked. ");
    expect(reasonOf(unpacked)).toContain(output);
    expect(tree(unpacked.around)).toEqual(['a.tar.gz', 'deep', 'deep/source']);
  });

  test.each<[string, () => Buffer, string]>([
    ['no gzip', () => rawTar([fine]), "It can't be unzipped"],
    [
      'a truncated gzip',
      () => rawTarball([{ path: 'x', text: 'x'.repeat(50_000) }]).subarray(0, 60),
      "It can't be unzipped",
    ],
    ['a gzip of another format', () => gzipSync('hello '.repeat(500)), 'It is not a valid tar archive'],
    ['an empty archive', () => gzipSync(endOfTar), 'It is not a valid tar archive'],
    ['an empty gzip', () => gzipSync(''), 'It is not a valid tar archive'],
    ['a wrong checksum', () => gzipSync(flipped(rawTar([fine]), 0)), 'checksum failure'],
    [
      'a truncated archive',
      () => gzipSync(rawTar([{ path: 'x', text: 'x'.repeat(5_000) }]).subarray(0, 2_000)),
      'It is not a valid tar archive',
    ],
    ['a wrong size', () => rawTarball([{ path: 'x', text: 'x', size: 10_000 }]), 'It is not a valid tar archive'],
    ['a gzip of a gzip', () => gzipSync(rawTarball([fine])), 'It is zipped more than once.'],
    [
      'a gzip of another compression',
      () => gzipSync(Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(600)])),
      'It is zipped more than once.',
    ],
  ])('%s', async (_, bytes, output) => {
    const unpacked = await unpack(bytes());
    expect(reasonOf(unpacked)).toContain(output);
    expect(tree(unpacked.into)).toEqual([]);
  });

  test('too many entries', async () => {
    const entries = Array.from({ length: 12 }, (_, at) => ({ path: `d${at}/`, type: '5' }));
    const unpacked = await unpack(rawTarball(entries), { bounds: { ...defaultTarBounds, entries: 11 } });
    expect(reasonOf(unpacked)).toContain('It holds more than 11 entries.');
    expect(tree(unpacked.into)).toEqual([]);
  });

  test('too many bytes', async () => {
    const bounds = { ...defaultTarBounds, unpackedBytes: 100_000 };
    const unpacked = await unpack(rawTarball([{ path: 'x', text: randomText(120_000) }]), { bounds });
    expect(reasonOf(unpacked)).toContain('It holds more than 100000 bytes.');
  });

  test('a decompression bomb, long before it reaches the limits', async () => {
    const bomb = gzipSync(
      Buffer.concat([entry({ path: 'zeros', size: 8 * 1024 ** 3 }), Buffer.alloc(96 * 1024 ** 2)]),
      { level: 9 },
    );
    expect(bomb.length).toBeLessThan(200_000);
    const unpacked = await unpack(bomb);
    expect(reasonOf(unpacked)).toContain('What it holds is more than 200 times as large as the archive.');
    expect(tree(unpacked.into)).toEqual([]);
  });

  test('a tarball that differs from the uploaded one', async () => {
    const bytes = tarballOf();
    const unpacked = await unpack(bytes, { digest: digestOf(Buffer.from('another')) });
    expect(reasonOf(unpacked)).toContain('is not the one that was uploaded. Upload it again.');
    expect(tree(unpacked.into)).toEqual([]);
  });

  test.each([
    ['a megabyte of zeros', Buffer.alloc(1024 ** 2)],
    ['ten megabytes of zeros', Buffer.alloc(10 * 1024 ** 2)],
    ['an empty gzip and zeros', Buffer.concat([gzipSync(''), Buffer.alloc(1024 ** 2)])],
  ])('accepts a tarball that ends with %s', async (_, behind) => {
    const { end } = await unpack(Buffer.concat([tarballOf(), behind]));
    expect(end).toMatchObject({ ok: true });
  });

  test('a tarball that was removed', async () => {
    const around = temporaryFolder(atTheEnd);
    const source = { kind: 'tarball', file: join(around, 'gone.tar.gz'), digest: '' } as const;
    const end = await unpackSource(source, {
      into: around,
      log: () => {},
      warn: () => {},
      signal: new AbortController().signal,
    });
    expect(end).toEqual({
      ok: false,
      reason: 'The source tarball was removed from this machine. Upload it again.',
    });
  });

  test('an interrupted build stops at once without output', async () => {
    const signal = AbortSignal.abort();
    const unpacked = await unpack(tarballOf(), { signal });
    expect(unpacked.end).toEqual({ ok: false, reason: '' });
    expect(tree(unpacked.into)).toEqual([]);
  });
});

test('no archive can write or link outside its folder', async () => {
  const odd = constantFrom('..', '.', 'a/b', 'b/../..', '/', '');
  const name = oneof({ weight: 9, arbitrary: constantFrom('a', 'b', 'c', 'd') }, { weight: 1, arbitrary: odd });
  const path = array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/').slice(0, 90) || 'a');
  const mode = integer({ min: 0, max: 0o7777 });
  const one = oneof(
    record({ path, mode, type: constant('0'), text: constantFrom('', 'text') }),
    record({ path, mode, type: constantFrom('1', '2'), link: path }),
    record({
      path,
      mode,
      type: oneof({ weight: 8, arbitrary: constant('5') }, { weight: 1, arbitrary: constantFrom('3', '6') }),
    }),
  );
  let taken = 0;
  await assert(
    asyncProperty(array(one, { maxLength: 6 }), async (entries) => {
      const { end, into, around } = await unpack(rawTarball(entries));
      if (end.ok) taken += 1;
      const found = tree(into).map((inside) => join(into, inside));
      const strange = found.filter((file) => {
        const stat = lstatSync(file);
        const isKnown = stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
        const leads = stat.isSymbolicLink() && existsSync(file) ? realpathSync(file) : into;
        return (
          !isKnown ||
          (!stat.isSymbolicLink() && stat.mode & 0o7000) ||
          !(leads === into || leads.startsWith(into + sep))
        );
      });
      expect(strange).toEqual([]);
      expect(end.ok || found.length === 0).toBe(true);
      expect(tree(around).filter((file) => !file.startsWith(`deep${sep}source`))).toEqual(['a.tar.gz', 'deep']);
    }),
    { numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(10);
});

/** A record of an extended header: its length, a key and a value. */
function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

function randomText(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => String.fromCharCode(33 + ((seed = (seed * 48_271) % 2_147_483_647) % 90))).join(
    '',
  );
}
