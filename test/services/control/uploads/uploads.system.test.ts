import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { type RequestedDigest, readContentDigest } from '../../../../src/services/control/uploads/receive.ts';
import {
  judgeSignature,
  signedQuery,
  createUploads,
  type UploadResult,
  type Uploads,
} from '../../../../src/services/control/uploads/uploads.ts';
import { temporaryFolder } from '../builds/repositories.ts';
import { digestOf, tarballOf } from '../builds/tarballs.ts';
import { openTestStore, type TestStore } from '../store/open-store.ts';
import { fromUpload } from '../service-fixture.ts';

const minute = 60_000;
const key = Buffer.alloc(32, 7);
const atTheEnd: (() => void)[] = [];

let opened: TestStore;
let tenantId: string;
let dataDir: string;
let now: number;
const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
let uploads: Uploads;

beforeAll(async () => {
  now = Date.UTC(2030, 0, 1);
  opened = await openTestStore(clock);
  tenantId = await opened.store.addTenant('one');
});
afterAll(async () => {
  await opened.close();
  for (const end of atTheEnd.splice(0)) end();
});
beforeEach(() => {
  now = Date.UTC(2030, 0, 1);
  dataDir = temporaryFolder(atTheEnd);
  uploads = createUploads({ store: opened.store.uploads, dataDir, key, clock, largest: 10_000 });
});

async function newDeployment(): Promise<string> {
  const { secrets, ...requested } = fromUpload();
  const wanted = { ...requested, secrets: [...secrets], secret_references: null, source: 'internal_source' as const };
  const end = await opened.store.createDeployment(tenantId, wanted);
  if (end.kind !== 'created') throw new Error(end.kind);
  return end.deployment.id;
}

/** The parts of an issued address. */
async function issued(): Promise<{ objectPath: string; expires: string; signature: string; deploymentId: string }> {
  const deploymentId = await newDeployment();
  const { upload_url, object_path } = await uploads.handOut(deploymentId, 'http://service.test/base');
  const url = new URL(upload_url);
  expect(url.href).toBe(`http://service.test/base/${object_path}${url.search}`);
  return {
    deploymentId,
    objectPath: object_path,
    expires: url.searchParams.get('expires') ?? '',
    signature: url.searchParams.get('signature') ?? '',
  };
}

async function* parts(...of: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of of) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

type Address = Awaited<ReturnType<typeof issued>>;
const put = (
  { objectPath, expires, signature }: Address,
  body: AsyncIterable<Uint8Array>,
  { announced, requested = { kind: 'none' } }: { announced?: number; requested?: RequestedDigest } = {},
): Promise<UploadResult> => uploads.put({ objectPath, expires, signature, body, announced, requested });

const good = tarballOf();
const files = (): string[] =>
  existsSync(join(dataDir, 'uploads'))
    ? readdirSync(join(dataDir, 'uploads'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(dataDir, 'uploads', name)).isFile(),
      )
    : [];

test('stores a tarball under its path, for its owner only, and returns its digest', async () => {
  const address = await issued();
  const half = good.length >> 1;
  const end = await put(address, parts(good.subarray(0, half), good.subarray(half)), { announced: good.length });
  expect(end).toEqual({ kind: 'received', digest: digestOf(good), bytes: good.length });
  const file = join(dataDir, address.objectPath);
  expect(readFileSync(file).equals(good)).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  expect(statSync(join(file, '../..')).mode & 0o777).toBe(0o700);
  expect(await opened.store.uploads.find(address.objectPath)).toMatchObject({
    state: 'stored',
    digest: digestOf(good),
  });
});

describe('an incomplete tarball leaves nothing, and the address stays valid', () => {
  const broken = new Error('reset');
  test.each<
    [string, () => AsyncIterable<Uint8Array>, { announced?: number; requested?: RequestedDigest }, UploadResult['kind']]
  >([
    ['a body that is cut off', () => parts(good.subarray(0, 50), broken), {}, 'cut'],
    ['a body that is cut off before it starts', () => parts(broken), {}, 'cut'],
    ['fewer bytes than announced', () => parts(good), { announced: good.length + 1 }, 'cut'],
    ['more bytes than announced', () => parts(good), { announced: good.length - 1 }, 'cut'],
    ['more bytes than allowed', () => parts(good, Buffer.alloc(10_000)), {}, 'too-large'],
    ['an announced length above the limit', () => parts(good), { announced: 10_001 }, 'too-large'],
    ['a body that is not gzip', () => parts(Buffer.from('PK\u0003\u0004 a zip')), {}, 'no-gzip'],
    ['only the first byte of a gzip', () => parts(Buffer.from([0x1f])), {}, 'no-gzip'],
    [
      'a gzip of an unknown method, byte by byte',
      () => parts(Buffer.from([0x1f]), Buffer.from([0x8b]), Buffer.from([9])),
      {},
      'no-gzip',
    ],
    ['an empty body', () => parts(), {}, 'no-gzip'],
    [
      'bytes that do not match the digest',
      () => parts(good),
      { requested: { kind: 'sha-256', digest: Buffer.alloc(32) } },
      'other-digest',
    ],
  ])('%s', async (_, body, beside, kind) => {
    const address = await issued();
    expect((await put(address, body(), beside)).kind).toBe(kind);
    expect(files()).toEqual([]);
    expect((await opened.store.uploads.find(address.objectPath))?.state).toBe('issued');
    const requested = { kind: 'sha-256', digest: createHash('sha256').update(good).digest() } as const;
    expect((await put(address, parts(good), { requested })).kind).toBe('received');
  });
});

test('a tarball that fills the disk leaves nothing, and the address stays valid', async () => {
  const address = await issued();
  const file = join(dataDir, address.objectPath);
  mkdirSync(dirname(file), { recursive: true });
  // The system itself refuses every write there with ENOSPC.
  symlinkSync('/dev/full', `${file}.part`);
  expect(await put(address, parts(good), { announced: good.length })).toEqual({ kind: 'disk-full' });
  expect(readdirSync(dirname(file))).toEqual([]);
  expect((await opened.store.uploads.find(address.objectPath))?.state).toBe('issued');
  expect((await put(address, parts(good))).kind).toBe('received');
  expect(readFileSync(file).equals(good)).toBe(true);
});

test('an address serves once', async () => {
  const address = await issued();
  expect((await put(address, parts(good))).kind).toBe('received');
  const other = tarballOf({ 'other.txt': 'other' });
  expect(await put(address, parts(other))).toEqual({ kind: 'used' });
  expect(readFileSync(join(dataDir, address.objectPath)).equals(good)).toBe(true);
});

test('refuses one of two concurrent uploads', async () => {
  const address = await issued();
  const ends = await Promise.all([put(address, parts(good)), put(address, parts(good))]);
  expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['in-use', 'received']);
});

test('an address expires after 15 minutes, also after a failed upload', async () => {
  const address = await issued();
  now += 15 * minute - 1_000;
  expect((await put(address, parts(Buffer.from('x')))).kind).toBe('no-gzip');
  now += 1_000;
  expect(await put(address, parts(good))).toEqual({ kind: 'expired' });
  expect(files()).toEqual([]);
});

test('refuses an address of a deployment that is gone', async () => {
  const address = await issued();
  await opened.store.requestDeletion(tenantId, address.deploymentId, { deleteTracingProject: true });
  await opened.store.noteStopped(address.deploymentId);
  await opened.store.finishDeletion(address.deploymentId);
  expect(await put(address, parts(good))).toEqual({ kind: 'unknown' });
  expect(files()).toEqual([]);
});

test('a deployment that is deleted during an upload keeps nothing of it', async () => {
  const address = await issued();
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield good;
    await opened.store.requestDeletion(tenantId, address.deploymentId, { deleteTracingProject: true });
    await opened.store.noteStopped(address.deploymentId);
    await opened.store.finishDeletion(address.deploymentId);
  }
  expect(await put(address, slowly())).toEqual({ kind: 'unknown' });
  expect(files()).toEqual([]);
});

test('a deployment that is being deleted accepts no tarball', async () => {
  const address = await issued();
  await opened.store.requestDeletion(tenantId, address.deploymentId, { deleteTracingProject: true });
  expect(await put(address, parts(good))).toEqual({ kind: 'unknown' });
  expect(files()).toEqual([]);
});

test.each<[string, (folder: string) => void]>([
  ['before the deletion removes its folder', () => {}],
  ['after the deletion has removed its folder', (folder) => rmSync(folder, { recursive: true })],
])('an upload that finishes %s is refused and leaves no folder', async (_, remove) => {
  const address = await issued();
  const folder = join(dataDir, dirname(address.objectPath));
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield good;
    await opened.store.requestDeletion(tenantId, address.deploymentId, { deleteTracingProject: true });
    remove(folder);
  }
  expect(await put(address, slowly())).toEqual({ kind: 'unknown' });
  expect(existsSync(folder)).toBe(false);
});

describe('a signature', () => {
  const upload = { objectPath: 'uploads/d/n.tar.gz', expires: 2_000 };
  const query = new URLSearchParams(signedQuery(key, upload));
  const sent = { expires: query.get('expires') ?? undefined, signature: query.get('signature') ?? undefined };
  test.each<[string, string, { expires: string | undefined; signature: string | undefined }, number, string]>([
    ['is valid until its expiry', upload.objectPath, sent, 1_999_999, 'good'],
    ['and not afterwards', upload.objectPath, sent, 2_000_000, 'expired'],
    ['is valid for one path', 'uploads/d/other.tar.gz', sent, 0, 'forged'],
    ['is valid for one expiry', upload.objectPath, { ...sent, expires: '3000' }, 0, 'forged'],
    ['must not be empty', upload.objectPath, { ...sent, signature: '' }, 0, 'forged'],
    ['must be present', upload.objectPath, { ...sent, signature: undefined }, 0, 'forged'],
    ['needs an expiry', upload.objectPath, { ...sent, expires: undefined }, 0, 'forged'],
    ['needs a numeric expiry', upload.objectPath, { ...sent, expires: '2e3' }, 0, 'forged'],
    ['must be complete', upload.objectPath, { ...sent, signature: sent.signature?.slice(1) }, 0, 'forged'],
  ])('%s', (_, path, requested, at, verdict) => expect(judgeSignature(key, path, requested, at)).toBe(verdict));

  test('of another key is forged', () => {
    expect(judgeSignature(Buffer.alloc(32, 8), upload.objectPath, sent, 0)).toBe('forged');
  });
});

const sha256 = createHash('sha256').update('x').digest();
const named = `sha-256=:${sha256.toString('base64')}:`;
test.each<[string, string | undefined, RequestedDigest]>([
  ['no header requests no check', undefined, { kind: 'none' }],
  ['an empty header neither', ' ', { kind: 'none' }],
  ['reads a SHA-256', named, { kind: 'sha-256', digest: sha256 }],
  ['reads a SHA-256 beside others', `sha-512=:AAAA:, ${named}`, { kind: 'sha-256', digest: sha256 }],
  ['ignores other algorithms', 'md5=:AAAA:', { kind: 'none' }],
  ['rejects a SHA-256 of another length', 'sha-256=:AAAA:', { kind: 'unreadable' }],
  ['rejects what is not a byte sequence', `sha-256=${sha256.toString('hex')}`, { kind: 'unreadable' }],
])('%s', (_, header, requested) => expect(readContentDigest(header)).toEqual(requested));

test('a start removes only what a kill left', async () => {
  const address = await issued();
  await put(address, parts(good));
  const folder = join(dataDir, 'uploads', address.deploymentId);
  writeFileSync(join(folder, `${'a'.repeat(32)}.tar.gz.part`), 'half');
  writeFileSync(join(folder, `${'b'.repeat(32)}.tar.gz`), 'not written down');
  mkdirSync(join(dataDir, 'uploads/unknown-deployment'));
  writeFileSync(join(dataDir, 'uploads/unknown-deployment/x'), 'x');
  await uploads.sweep();
  expect(files()).toEqual([address.objectPath.replace(/^uploads\//, '')]);
  expect(readdirSync(join(dataDir, 'uploads'))).toEqual([address.deploymentId]);
});

test('removes old tarballs unless something needs them', async () => {
  const [spare, wanted] = [await issued(), await issued()];
  await put(spare, parts(good));
  await put(wanted, parts(good));
  await opened.store.changeDeployment(tenantId, wanted.deploymentId, (current) => ({
    wanted: { ...current, source_revision_config: { source_tarball_path: wanted.objectPath } },
    revision: 'new',
  }));
  expect(await uploads.removeOld(60 * minute)).toBe(0);
  now += 61 * minute;
  expect(await uploads.removeOld(60 * minute)).toBeGreaterThanOrEqual(1);
  expect(existsSync(join(dataDir, spare.objectPath))).toBe(false);
  expect(existsSync(join(dataDir, wanted.objectPath))).toBe(true);
  expect(await opened.store.uploads.find(spare.objectPath)).toMatchObject({ state: 'removed' });
  expect(await put(spare, parts(good))).toEqual({ kind: 'expired' });
});
