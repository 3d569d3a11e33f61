/** The largest uploaded tarball, in bytes, gzipped: the public service's limit. */
export const maxTarballSize = 200 * 1024 * 1024;

/** A gzip tar that can be read repeatedly with the same bytes. */
export interface Tarball {
  /** Bytes, gzipped. */
  readonly size: number;
  /** `sha256:` and the hex digest of the gzipped bytes. */
  readonly digest: string;
  read(): AsyncIterable<Uint8Array>;
}
