import { totalmem } from 'node:os';
import type { Secret } from '../../contract/control/secret.ts';
import type { ProcessUser } from '../compute/leashed-process.ts';
import type { WriteLine } from '../compute/log-line.ts';

/** A commit of a repository (control-service.md, source_config and source_revision_config: the source `github`). */
export interface GitSource {
  kind: 'git';
  repoUrl: string;
  /** A branch by its plain name, or `refs/tags/...`; the repository's own default where there is none. */
  repoRef: string | undefined;
  /** Builds this commit instead of the head of the ref: a revision that is built again. */
  commit?: string | undefined;
  /**
   * Gets what a private repository is cloned with, a secret, or says why there is none. Absent where the repository needs
   * none. It is handed to git in its environment: no command line and no file ever holds it.
   */
  token?: (() => Promise<Part<string>>) | undefined;
  /** Ends the token, as soon as the source is there and before anything of it runs. */
  endToken?: ((token: string) => Promise<void>) | undefined;
}

/** A tarball that was uploaded (control-service.md, source_tarball_path: the source `internal_source`). */
export interface TarballSource {
  kind: 'tarball';
  /** Absolute path of the gzipped tar. */
  file: string;
  /** `sha256:<hex>` of the file's bytes. */
  digest: string;
}

/** For whom something is built: nothing that is kept for later builds is shared with another tenant. */
export interface BuildOwner {
  tenantId: string;
  /** The integration that lets a private repository be cloned. */
  integrationId?: string | undefined;
}

/** What a revision is built from, and how. */
export interface BuildRequest extends BuildOwner {
  revisionId: string;
  from: GitSource | TarballSource;
  /** Relative to the root of the source. */
  graphConfigPath: string;
  installCommand: string | undefined;
  buildCommand: string | undefined;
  /**
   * The deployment's user of this machine, where this service is root; absent where builds and agents run as the
   * service's own user. It may not read what the service reads (its data folder, the folders of `--allow-git`), so the
   * source is fetched by the service itself. Then the folders that the build's commands write in (checkout, home,
   * temporary files) are handed over (`isolation/hand-over.ts`), below a folder that stays root's, mode 0711, with the
   * build's record in it. From then on every command is run as this user (`startLeashed`), agents too, and the service
   * never writes, copies or removes below those folders with root's rights: a link at the right moment would lead it
   * elsewhere. It has that done as the user, and takes the folders from the user before it removes them (`remove-tree.ts`). What deployments share, they may
   * only read.
   */
  user?: ProcessUser | undefined;
  /** Not given to the build; masked in its log, where they may turn up if the repository holds them. */
  secrets: readonly Secret[];
  log: WriteLine;
  /** Called as soon as the commit is known; never for a tarball. */
  onCommit: (commit: string) => Promise<void>;
}

/** Which source exactly a build was made from. */
export type BuiltFrom = { kind: 'commit'; commit: string } | { kind: 'tarball'; digest: string };

/** A build that is complete and lies on this machine. */
export interface Build {
  folder: string;
  from: BuiltFrom;
  /** Absolute path of the graph configuration file. */
  graphConfigFile: string;
}

/** How a build ends. `interrupted`: the signal aborted; nothing is left of it. */
export type BuildEnd = { kind: 'built'; build: Build } | { kind: 'failed'; reason: string } | { kind: 'interrupted' };

/** What a build may take. Memory and processes are bounded where the machine has `/proc`. */
export interface BuildBounds {
  /** Milliseconds for each part, all of its commands together: cloning or unpacking, installing, the build command. */
  cloneMs: number;
  installMs: number;
  buildMs: number;
  /** Bytes of memory of all its processes together. */
  memoryBytes: number;
  processes: number;
  /** How much of what its commands print is kept; it may print more, for which its log has a note. */
  outputBytes: number;
  outputLines: number;
  /** Bytes that have to be free on the disk for a build to begin; it is ended when less than half of them are left. */
  leastFreeBytes: number;
}

export const usualBuildBounds: BuildBounds = {
  cloneMs: 300_000,
  installMs: 900_000,
  buildMs: 900_000,
  memoryBytes: Math.min(4_294_967_296, Math.floor(totalmem() * 0.75)),
  processes: 512,
  outputBytes: 8_000_000,
  outputLines: 15_000,
  leastFreeBytes: 500_000_000,
};

/** Why a part of a build can't go on, or what it made. */
export type Part<T> = { ok: true; value: T } | { ok: false; reason: string };

export const made = <T>(value: T): Part<T> => ({ ok: true, value });
export const cannot = (reason: string): Part<never> => ({ ok: false, reason });
