import type { ControlOperation } from '../contract/service-error.ts';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { PutResult, TarballStore } from '../contract/control/upload.ts';
import { maxTarballSize, type Tarball } from '../kit/archive/tarball.ts';
import { call, type Operation } from './call.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { readNothing } from './response-readers.ts';

/** The upload timeout (ms): for the largest tarball on a slow line. */
const uploadMs = 15 * 60_000;

/**
 * Uploads tarballs to the presigned URLs of a control service, on any host. Sends no key, tenant or token, and follows
 * no redirect. The URL itself permits writing, so errors contain only its host.
 */
export function tarballStore(settings: ConnectionSettings): TarballStore['putTarball'] {
  const { apiKey: _, tenantId: __, bearer: ___, ...keyless } = settings;
  return async (uploadUrl, tarball, options = {}) => {
    const { origin, pathname, search, searchParams } = new URL(uploadUrl);
    const secrets = [uploadUrl, `${pathname}${search}`, pathname, ...searchParams.values()];
    const link = connection(origin, keyless);
    let changeReason: string | undefined;
    const operation: Operation = {
      name: 'upload source' satisfies ControlOperation,
      method: 'PUT',
      path: pathname,
      query: search,
      displayedPath: '/…',
      headers: {
        'content-type': 'application/gzip',
        'content-length': String(tarball.size),
        'content-digest': `sha-256=:${Buffer.from(hexOf(tarball), 'hex').toString('base64')}:`,
        ...(isRangeSigned(searchParams) ? { 'x-goog-content-length-range': `0,${maxTarballSize}` } : {}),
      },
      stream: () => {
        const bytes = verifyWhileReading(tarball, (why) => (changeReason = why));
        return Readable.from(bytes, { objectMode: false });
      },
      secrets: secrets.filter((each) => each.length >= 8),
      attemptTimeoutMs: uploadMs,
      callTimeoutMs: 2 * uploadMs,
    };
    try {
      await call(link, operation, readNothing, options);
      return { kind: 'stored' };
    } catch (error) {
      if (changeReason === undefined) throw error;
      return { kind: 'changed', why: changeReason } satisfies PutResult;
    } finally {
      await link.close();
    }
  };
}

/**
 * Whether a presigned URL is only valid with the size range that the public service signs. Its older signatures do not
 * list what they cover; a list without the range would make the header itself invalid.
 */
function isRangeSigned(parameters: URLSearchParams): boolean {
  const lists = [...parameters].filter(([name]) => /^x-(?:goog|amz)-signedheaders$/i.test(name));
  return lists.length === 0 || lists.some(([, names]) => names.toLowerCase().includes('x-goog-content-length-range'));
}

const hexOf = ({ digest }: Tarball): string => digest.replace(/^sha256:/, '');

/**
 * Streams the bytes and checks them against the measured size and digest. The last chunk is held back until the check:
 * a changed tarball never arrives completely.
 */
async function* verifyWhileReading(tarball: Tarball, onChange: (why: string) => void): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  let lastChunk: Uint8Array | undefined;
  const fail = (why: string): never => {
    onChange(why);
    throw new Error(why);
  };
  try {
    for await (const bytes of tarball.read()) {
      if (lastChunk) yield lastChunk;
      lastChunk = bytes;
      size += bytes.length;
      hash.update(bytes);
    }
  } catch (error) {
    fail(error instanceof Error ? error.message : 'it could not be read again');
  }
  if (size !== tarball.size || hash.digest('hex') !== hexOf(tarball))
    fail('its content has changed since it was measured');
  if (lastChunk) yield lastChunk;
}
