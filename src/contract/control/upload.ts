import * as z from 'zod';
import type { Tarball } from '../../kit/archive/tarball.ts';
import type { CallOptions } from '../call-options.ts';

/**
 * The response of POST /v2/deployments/{id}/upload-url (docs/design/contract.md#endpoints, which writes the path
 * without `/v2`). Upload the gzip tar with a PUT to `upload_url` with `Content-Type: application/gzip`; then use
 * `object_path` as `source_tarball_path`.
 */
export const uploadTarget = z.looseObject({ upload_url: z.url(), object_path: z.string().min(1) });
export type UploadTarget = z.infer<typeof uploadTarget>;

/** Uploads to presigned URLs, which may be on another host than the service. */
export interface TarballStore {
  /** PUTs a tarball at `UploadTarget.upload_url`. After a failure it may be repeated at a new URL. */
  putTarball(uploadUrl: string, tarball: Tarball, options?: CallOptions): Promise<PutResult>;
}

/** Stored; or its bytes have changed since they were measured, with `why`, and it was not sent completely. */
export type PutResult = { kind: 'stored' } | { kind: 'changed'; why: string };

/** The response of POST /v2/deployments/{id}/push-token, for the source `internal_docker`. `token` is a secret. */
export const pushToken = z.looseObject({ token: z.string().min(1), registry_url: z.string().min(1) });
export type PushToken = z.infer<typeof pushToken>;
