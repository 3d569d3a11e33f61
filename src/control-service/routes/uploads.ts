import { Hono } from 'hono';
import type { Context } from 'hono';
import { readContentDigest } from '../uploads/content-digest.ts';
import type { PutEnd, Uploads } from '../uploads/uploads.ts';
import type { Env } from './env.ts';
import { readConditions } from './read.ts';
import { onlyMethods } from './refusing.ts';

/** Handing out addresses for tarballs and images; these want a key as everything does. */
export function uploadRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  const hand = async (c: Context<Env>, id: string) => c.json(await c.var.service.requestUpload(id, readConditions(c)));
  // The document writes the path without the version's prefix.
  const withoutPrefix = '/deployments/:id/upload-url';
  routes.post(withoutPrefix, (c) => hand(c, c.req.param('id')));
  routes.all(withoutPrefix, onlyMethods('POST'));
  const withPrefix = `/v2${withoutPrefix}` as const;
  routes.post(withPrefix, (c) => hand(c, c.req.param('id')));
  routes.all(withPrefix, onlyMethods('POST'));
  const pushToken = '/v2/deployments/:id/push-token';
  routes.post(pushToken, async (c) => c.json(await c.var.service.requestPushToken(c.req.param('id'))));
  routes.all(pushToken, onlyMethods('POST'));
  return routes;
}

/** Where tarballs are put. Without a key: who has the address may use it. */
export function putRoutes(uploads: Uploads): Hono<Env> {
  const routes = new Hono<Env>();
  const path = '/uploads/:deployment/:name';
  routes.put(path, async (c) => {
    const wrong = headersProblem(c);
    if (wrong) return refuse(c, ...wrong);
    const length = c.req.header('content-length');
    const objectPath = `uploads/${c.req.param('deployment')}/${c.req.param('name')}`;
    const end = await uploads.put({
      objectPath,
      expires: c.req.query('expires'),
      signature: c.req.query('signature'),
      body: c.req.raw.body ?? new Blob([]).stream(),
      announced: length === undefined ? undefined : Number(length),
      requested: readContentDigest(c.req.header('content-digest')),
    });
    if (end.kind !== 'received') return refuse(c, ...refusalOf(end, uploads.largest));
    return c.json({ object_path: objectPath, source_tarball_digest: end.digest, size: end.bytes });
  });
  routes.all(path, onlyMethods('PUT'));
  return routes;
}

type Refused = readonly [status: 400 | 403 | 404 | 409 | 413 | 415 | 507, detail: string];

function refuse(context: Context, status: Refused[0], detail: string): Response {
  // The rest of the body stays unread, so the connection can't be reused.
  context.header('Connection', 'close');
  return context.json({ detail }, status);
}

function headersProblem(context: Context): Refused | undefined {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/gzip') return [415, 'Send a gzipped tar, with Content-Type: application/gzip.'];
  const encoding = context.req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') return [415, 'Send the gzipped tar as it is, without a Content-Encoding.'];
  if (readContentDigest(context.req.header('content-digest')).kind === 'unreadable') {
    return [400, 'Content-Digest can not be read. Send it as sha-256=:<base64 of the SHA-256>:, or leave it out.'];
  }
  return undefined;
}

function refusalOf(end: Exclude<PutEnd, { kind: 'received' }>, largest: number): Refused {
  const again = 'Nothing of it was kept; the same address may be used again until it expires.';
  switch (end.kind) {
    case 'forged':
      return [403, `The signature of this address is invalid. ${anew}`];
    case 'expired':
      return [403, `This address has expired. ${anew}`];
    case 'unknown':
      return [404, `The deployment of this address no longer exists. ${anew}`];
    case 'used':
      return [409, `This address was used already: each takes one tarball. ${anew}`];
    case 'in-use':
      return [409, 'Another upload to this address is in progress. Wait for its end, or request another address.'];
    case 'too-large':
      return [413, `The tarball is larger than ${largest} bytes. Leave out what a build does not need. ${again}`];
    case 'no-gzip':
      return [400, `The body is not gzip: send a gzipped tar. ${again}`];
    case 'other-digest':
      return [400, `The digest of the tarball is ${end.digest}, and Content-Digest announced another one. ${again}`];
    case 'cut':
      return [400, `The body broke off before its end. ${again}`];
    case 'disk-full':
      return [507, `There is no room for the tarball on this machine. ${again}`];
  }
}

const anew = 'Ask for one with POST /v2/deployments/{deployment_id}/upload-url.';
