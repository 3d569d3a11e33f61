import { totalmem } from 'node:os';
import type { Secret } from '../../../contract/control/secret.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { WriteLine } from '../compute/log-line.ts';

/** A commit of a repository (docs/design/contract.md#revision-settings: the source `github`). */
export interface GitSource {
  kind: 'git';
  repoUrl: string;
  /** A branch by its plain name, or `refs/tags/...`; absent: the repository's default branch. */
  repoRef: string | undefined;
  /** Builds this commit instead of the ref's head: to build a revision again. */
  commit?: string | undefined;
  /** Gets the token that clones a private repository; git gets it in its environment, in no command line or file. */
  token?: (() => Promise<StepResult<string>>) | undefined;
  /** Revokes the token, as soon as the source is fetched and before any of it runs. */
  endToken?: ((token: string) => Promise<void>) | undefined;
}

/** A commit, as git reports it. The texts are untrusted, and bounded. */
export interface Commit {
  sha: string;
  /** The first line of its message. */
  subject: string | null;
  author: string | null;
  authoredAt: Date | null;
}

/** An uploaded tarball (docs/design/contract.md#revision-settings: the source `internal_source`). */
export interface TarballSource {
  kind: 'tarball';
  file: string;
  /** `sha256:<hex>` of the file's bytes. */
  digest: string;
}

export interface BuildRequest {
  tenantId: string;
  /** The integration that gives access to a private repository. */
  integrationId?: string | undefined;
  revisionId: string;
  from: GitSource | TarballSource;
  graphConfigPath: string;
  installCommand: string | undefined;
  buildCommand: string | undefined;
  /**
   * The deployment's user of this machine, where this service is root; absent where builds and agents run as the
   * service's own user. It may not read what the service reads (its data folder, the folders of `--allow-git`), so the
   * service fetches the source. Then the folders that the build's commands write in (checkout, home, temporary files)
   * change owner (`isolation/change-owner.ts`), below a folder that stays root's, mode 0711, with the build's record in
   * it. Every later command and the agents run as this user (`startGuarded`). The service never writes, copies or
   * removes below those folders as root, because the user could redirect it with a link: it does so as the user, or
   * takes the folders from the user first (`remove-tree.ts`). The user may only read what deployments share.
   */
  user?: ProcessUser | undefined;
  /** Not given to the build; masked in its log, in case the repository contains them. */
  secrets: readonly Secret[];
  log: WriteLine;
  /** Called as soon as the commit is known; never for a tarball. */
  onCommit: (commit: Commit) => Promise<void>;
  /** Called when the build has failed, before what it left is removed: removing packages can take minutes. */
  onFailure?: ((reason: string) => Promise<void>) | undefined;
}

export type BuiltFrom = { kind: 'commit'; commit: string } | { kind: 'tarball'; digest: string };

export interface Build {
  folder: string;
  from: BuiltFrom;
  graphConfigFile: string;
  /** There with graphs in Python. */
  python?: PythonEnvironment;
}

/** The environment of graphs in Python, in the build's folder. */
export interface PythonEnvironment {
  /** The name of the environment with its packages, which builds share; undefined where it holds them itself. */
  shared: string | undefined;
}

/** The outcome of a build. `interrupted`: the signal aborted; nothing is left of it. */
export type BuildEnd =
  /** `warnings`: those of `RunningBuild.warn`. */
  | { kind: 'built'; build: Build; warnings: readonly string[] }
  | { kind: 'failed'; reason: string }
  | { kind: 'interrupted' };

/** The limits of a build. Memory and processes are limited where the machine has `/proc`. */
export interface BuildBounds {
  /** Milliseconds for all commands of a step together: cloning or unpacking, installing, the build command. */
  cloneMs: number;
  installMs: number;
  buildMs: number;
  memoryBytes: number;
  processes: number;
  /** Bytes of one file that git writes in a fetch: a pack, or an object of a small one. */
  fetchedBytes: number;
  /** How much output is logged; further output is dropped with a note. */
  outputBytes: number;
  outputLines: number;
  /** Free bytes on the disk that a build needs to start; it is stopped when less than half of them are left. */
  minFreeBytes: number;
}

export const usualBuildBounds: BuildBounds = {
  cloneMs: 300_000,
  installMs: 900_000,
  buildMs: 900_000,
  memoryBytes: Math.min(4_294_967_296, Math.floor(totalmem() * 0.75)),
  processes: 512,
  fetchedBytes: 2_147_483_648,
  outputBytes: 8_000_000,
  outputLines: 15_000,
  minFreeBytes: 500_000_000,
};

/** The result of a step of a build, or why it failed. */
export type StepResult<T> = { ok: true; value: T } | { ok: false; reason: string };
export const succeeded = <T>(value: T): StepResult<T> => ({ ok: true, value });
export const stepFailed = (reason: string): StepResult<never> => ({ ok: false, reason });
