import * as z from 'zod';

/**
 * The answer of POST /v2/deployments/{id}/upload-url (control-service.md, Endpoints; the contract writes the path without
 * `/v2`). The gzip tar is put at `upload_url` with `Content-Type: application/gzip`; `object_path` is what
 * `source_tarball_path` then takes.
 */
export const uploadTarget = z.looseObject({ upload_url: z.url(), object_path: z.string().min(1) });
export type UploadTarget = z.infer<typeof uploadTarget>;

/** The most bytes that an uploaded tarball may have, gzipped: the public service's bound. */
export const largestTarball = 200 * 1024 * 1024;

/** The answer of POST /v2/deployments/{id}/push-token, for the source `internal_docker`. `token` is a secret. */
export const pushToken = z.looseObject({ token: z.string().min(1), registry_url: z.string().min(1) });
export type PushToken = z.infer<typeof pushToken>;
