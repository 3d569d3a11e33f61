// Unpacks hostile archives: source tarballs as they are uploaded, and installed packages as their user hands them over.
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { extractPackages } from '../../src/services/control/builds/package-tree.ts';
import { unpackSource } from '../../src/services/control/builds/obtain-source.ts';
import { digestOf, endOfTar, entry, type RawEntry } from '../services/control/builds/tarballs.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 150);
/** Far more than a busy machine needs. */
const withinMs = 60_000 + 1_000 * cases;
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0)) end();
});

/** Numbers below a bound, the same ones for the same name. */
function numbers(name: string): (below: number) => number {
  let count = 0;
  return (below) => createHash('sha256').update(`${name} ${count++}`).digest().readUInt32BE() % below;
}

const pick = <T>(next: (below: number) => number, of: readonly [T, ...T[]]): T => of[next(of.length)] ?? of[0];

/** One hostile entry: few names, so that they meet one another. */
function hostileEntry(next: (below: number) => number, outside: string): RawEntry {
  const names = [
    'a',
    'b',
    'node_modules',
    '.',
    '..',
    '',
    'A',
    '\u00e9',
    'e\u0301',
    '\udcff',
    'x\ny',
    'n'.repeat(99),
  ] as const;
  const path = (): string => {
    const parts = Array.from({ length: 1 + next(4) }, () => pick(next, names));
    const start = pick(next, ['', '', '', '', 'node_modules/', 'node_modules/', '/', './', '../', `${outside}/`]);
    return `${start}${parts.join('/')}${pick(next, ['', '', '', '/'])}`;
  };
  const text = pick(next, ['', 'text', 'x'.repeat(600), Buffer.alloc(64, 0xff), `30 path=${outside}/planted\n`]);
  return {
    path: path(),
    type: pick(next, ['0', '0', '0', '1', '2', '2', '5', '5', '\0', '3', '4', '6', '7', 'L', 'K', 'x', 'g', 'Z']),
    link: pick(next, [path(), path(), outside, `${outside}/canary`, '../outside', 'a', '.']),
    text,
    mode: pick(next, [0o644, 0o755, 0, 0o7777, 0o4755]),
    ...(next(12) === 0 ? { size: pick(next, [0, 1, 511, 8 ** 11 - 1]) } : {}),
    ...(next(20) === 0 ? { raw: [[124, '\x80'.padEnd(12, '\xff')]] } : {}),
  };
}

/** A path of very many folders, as one entry or as one for each folder, that may lead out at its end. */
function deepTree(next: (below: number) => number, outside: string): Buffer[] {
  const depth = pick(next, [10, 40, 49, 600, 3_000]);
  const name = pick(next, ['d', 'node_modules', 'n'.repeat(250)]);
  const end = pick(next, ['x', '../x', '../'.repeat(depth + 1), `${'../'.repeat(depth + 1)}outside/planted`]);
  const path = (count: number): string => `node_modules/${`${name}/`.repeat(count)}`;
  if (next(2) === 0) return [paxed([['path', `${path(depth)}${end}`]]), entry({ path: 'x', text: 'x' })];
  return Array.from({ length: Math.min(depth, 40) }, (_, count) =>
    Buffer.concat([
      longNamed('L', path(count)),
      entry({ path: 'x', type: pick(next, ['5', '5', '5', '2']), link: pick(next, ['.', '..', outside]) }),
    ]),
  );
}

/** Several headers in a row that all say what the next entry is called, or what it is a link to. */
function chainOfNames(next: (below: number) => number, outside: string): Buffer[] {
  const names = ['node_modules/a', `${outside}/planted`, '../outside/planted', 'n/'.repeat(200), 'x\0y', ''] as const;
  const one = (): Buffer => {
    const name = pick(next, names);
    const key = pick(next, ['path', 'path', 'linkpath', 'size', 'mtime', 'GNU.sparse.name', '__proto__'] as const);
    return next(2) === 0
      ? longNamed(pick(next, ['L', 'K']), name)
      : paxed([[key, name], ...(next(3) === 0 ? [[key, pick(next, names)] as const] : [])], pick(next, ['x', 'g']));
  };
  return [
    ...Array.from({ length: 1 + next(pick(next, [4, 4, 300])) }, one),
    entry({
      path: 'node_modules/b',
      type: pick(next, ['0', '1', '2', '5']),
      link: pick(next, ['a', outside]),
      text: 'x',
    }),
  ];
}

/** A header of GNU tar's which names the next entry, or what it is a link to, in full. */
const longNamed = (type: 'L' | 'K', name: string): Buffer => entry({ path: '././@LongLink', type, text: `${name}\0` });

/** A header of POSIX pax which says things of the next entry (`x`), or of all that follow (`g`). */
function paxed(records: readonly (readonly [key: string, value: string])[], type: 'x' | 'g' = 'x'): Buffer {
  const lines = records.map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest);
    while (Buffer.byteLength(`${length}${rest}`) !== length) length = Buffer.byteLength(`${length}${rest}`);
    return `${length}${rest}`;
  });
  return entry({ path: 'pax', type, text: lines.join('') });
}

/** The bytes of an archive, whole, cut, followed by another one, or with bytes changed. */
function hostileBytes(next: (below: number) => number, outside: string): Buffer {
  const plain = Array.from({ length: 1 + next(12) }, () => entry(hostileEntry(next, outside)));
  const kind = next(6);
  const special = kind === 0 ? deepTree(next, outside) : kind === 1 ? chainOfNames(next, outside) : [];
  const entries = next(2) === 0 ? [...special, ...plain] : [...plain, ...special];
  const whole = Buffer.concat([...entries, pick(next, [endOfTar, endOfTar, Buffer.alloc(0)])]);
  const change = next(8);
  if (change === 0) return whole.subarray(0, next(whole.length));
  if (change === 1) return Buffer.concat([whole, whole]);
  if (change === 2) whole[next(whole.length)] = next(256);
  return whole;
}

/** Folders with a canary beside the one that is unpacked into. */
function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-fuzz-')));
  atTheEnd.push(() => rmSync(root, { recursive: true, force: true }));
  const into = join(root, 'into');
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'canary'), 'canary');
  const state = (): string[] =>
    ['', 'outside', 'outside/canary'].map((path) => {
      const { mode, size, nlink, mtimeMs, uid } = lstatSync(join(root, path));
      const names = path.endsWith('canary') ? '' : readdirSync(join(root, path)).toSorted().join(' ');
      return [path, mode, size, path === '' ? '' : nlink, path === '' ? '' : mtimeMs, uid, names].join(' ');
    });
  return { root, into, outside, state };
}

/** Entries that are no file, folder or link, and files with several hard links or setuid. */
function strangers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((found) => {
    const path = join(found.parentPath, found.name);
    const { mode } = lstatSync(path);
    const isPlain = found.isFile() || found.isDirectory() || found.isSymbolicLink();
    return isPlain && (found.isSymbolicLink() || (mode & 0o7000) === 0) ? [] : [path];
  });
}

test(
  `${cases} hostile source tarballs write nothing outside of their folder`,
  async () => {
    const { root, into, outside, state } = place();
    mkdirSync(into);
    const file = join(root, 'source.tar.gz');
    writeFileSync(file, '');
    const before = state();
    let refused = 0;
    for (let number = 0; number < cases; number += 1) {
      const next = numbers(`source ${seed} ${number}`);
      rmSync(into, { recursive: true, force: true });
      mkdirSync(into);
      const parts = [gzipSync(hostileBytes(next, outside))];
      if (next(6) === 0) parts.push(gzipSync(hostileBytes(next, outside)));
      const bytes = Buffer.concat(parts).subarray(0, next(10) === 0 ? next(200) : undefined);
      writeFileSync(file, bytes);
      const source = { kind: 'tarball', file, digest: digestOf(bytes) } as const;
      const signal = new AbortController().signal;
      const end = await unpackSource(source, { into, log: () => undefined, warn: () => undefined, signal });
      if (!end.ok) refused += 1;
      expect([number, end.ok ? [] : readdirSync(into)]).toEqual([number, []]);
      expect([number, state()]).toEqual([number, before]);
      expect([number, strangers(into)]).toEqual([number, []]);
    }
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(cases);
  },
  withinMs,
);

test(
  `${cases} hostile streams of packages write nothing outside of their folder`,
  async () => {
    const { into, outside, state } = place();
    mkdirSync(into);
    const before = state();
    let taken = 0;
    for (let number = 0; number < cases; number += 1) {
      const next = numbers(`packages ${seed} ${number}`);
      rmSync(into, { recursive: true, force: true });
      mkdirSync(into);
      const stdout = Readable.from([hostileBytes(next, outside)]);
      const ended = new Promise<{ kind: 'exited'; code: number }>((done) =>
        stdout.once('close', () => done({ kind: 'exited', code: 0 })),
      );
      const reading = { stdout, stderr: Readable.from([]), ended, kill: () => void stdout.destroy() };
      const end = await extractPackages(reading, { from: '/stage', into });
      if (end.ok) taken += 1;
      expect([number, state()]).toEqual([number, before]);
      expect([number, strangers(into)]).toEqual([number, []]);
    }
    expect(taken).toBeGreaterThan(0);
  },
  withinMs,
);
