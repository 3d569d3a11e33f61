import * as z from 'zod';
import type { CallOptions } from '../call-options.ts';

/**
 * The answer of POST /v2/deployments/{id}/upload-url (control-service.md, Endpoints; the contract writes the path without
 * `/v2`). The gzip tar is put at `upload_url` with `Content-Type: application/gzip`; `object_path` is what
 * `source_tarball_path` then takes.
 */
export const uploadTarget = z.looseObject({ upload_url: z.url(), object_path: z.string().min(1) });
export type UploadTarget = z.infer<typeof uploadTarget>;

/** The most bytes that an uploaded tarball may have, gzipped: the public service's bound. */
export const largestTarball = 200 * 1024 * 1024;

/** A gzip tar whose bytes can be had again from the first, the same each time. */
export interface Tarball {
  /** Bytes, gzipped. */
  readonly size: number;
  /** `sha256:` and the hex digest of the gzipped bytes. */
  readonly digest: string;
  read(): AsyncIterable<Uint8Array>;
}

/** Where the bytes of an upload go: to the address that was handed out, which need not be the service's own. */
export interface TarballStore {
  /**
   * PUT of a tarball at `UploadTarget.upload_url`. It changes nothing at the deployment: that is done by naming its path
   * in a PATCH. So one that failed may be done again, at a new address.
   */
  putTarball(uploadUrl: string, tarball: Tarball, options?: CallOptions): Promise<Put>;
}

/** The bytes are there as they were measured; or they have changed since, `why` in one clause, and nothing whole was sent. */
export type Put = { kind: 'stored' } | { kind: 'changed'; why: string };

/** The answer of POST /v2/deployments/{id}/push-token, for the source `internal_docker`. `token` is a secret. */
export const pushToken = z.looseObject({ token: z.string().min(1), registry_url: z.string().min(1) });
export type PushToken = z.infer<typeof pushToken>;
