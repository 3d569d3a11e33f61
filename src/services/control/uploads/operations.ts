import type { Context } from 'hono';
import * as z from 'zod';
import { pushToken, uploadTarget } from '../../../contract/control/upload.ts';
import { operationsOf } from '../api/define-operation.ts';
import type { Env } from '../api/operation.ts';
import { contentDigest, idempotencyKey } from '../api/parameters.ts';
import { readContentDigest } from './receive.ts';
import type { UploadResult } from './uploads.ts';

const define = operationsOf('Sources');

export const uploaded = z.object({ object_path: z.string(), source_tarball_digest: z.string(), size: z.int() });

/** The contract writes the path without the prefix of the version. */
const uploadUrl = (prefix: '/v2' | '', id: string) =>
  define.post(`${prefix}/deployments/:deployment_id/upload-url`, id, {
    summary: 'Request an upload address for a source tarball',
    description: 'For the source `internal_source`. The address works once and expires after 15 minutes.',
    headers: [idempotencyKey],
    responses: { 200: { description: 'The address, and the path to name the tarball by.', schema: uploadTarget } },
    errors: [400, 409],
    call: (service, { param, conditions }) => service.requestUpload(param('deployment_id'), conditions),
  });

/** Addresses for tarballs and images, and the upload of tarballs. */
export const uploadOperations = [
  uploadUrl('/v2', 'request_upload'),
  uploadUrl('', 'request_upload_unversioned'),
  define.put('/uploads/:deployment_id/:object_name', 'put_tarball', {
    summary: 'Upload a source tarball',
    description: 'At a signed upload address; needs no key.',
    query: z.object({ expires: z.string(), signature: z.string() }),
    headers: [contentDigest],
    body: { type: 'application/gzip', required: true },
    responses: { 200: { description: 'It is stored.', schema: uploaded } },
    errors: [400, 403, 404, 409, 413, 415, 507],
    open: true,
    handle: putTarball,
  }),
  define.post('/v2/deployments/:deployment_id/push-token', 'request_push_token', {
    summary: 'Request a token to push an image',
    description: 'For the source `internal_docker`.',
    responses: { 200: { description: 'The token, a secret, and the registry.', schema: pushToken } },
    errors: [400, 409, 502],
    call: (service, { param }) => service.requestPushToken(param('deployment_id')),
  }),
];

async function putTarball(c: Context<Env, '/uploads/:deployment_id/:object_name'>): Promise<Response> {
  const { uploads } = c.var.settings;
  if (!uploads) return c.notFound();
  const wrong = headersProblem(c);
  if (wrong) return refuse(c, ...wrong);
  const length = c.req.header('content-length');
  const objectPath = `uploads/${c.req.param('deployment_id')}/${c.req.param('object_name')}`;
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

function refusalOf(end: Exclude<UploadResult, { kind: 'received' }>, largest: number): Refused {
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
