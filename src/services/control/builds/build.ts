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
  /** Gets the token for a private repository. It is passed to git in the environment, never by command line or file. */
  token?: (() => Promise<StepResult<string>>) | undefined;
  /** Revokes the token after the source is fetched, before any of it runs. */
  endToken?: ((token: string) => Promise<void>) | undefined;
}

/** A commit, as git reports it. Its texts are untrusted and of limited length. */
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
  /** The deployment's secrets: the build does not receive them, but its log masks them. */
  secrets: readonly Secret[];
  log: WriteLine;
  /** Called as soon as the commit is known; never for a tarball. */
  onCommit: (commit: Commit) => Promise<void>;
  /** Called when the build has failed, before its files are removed, which can take minutes. */
  onFailure?: ((reason: string) => Promise<void>) | undefined;
}

export type BuiltFrom = { kind: 'commit'; commit: string } | { kind: 'tarball'; digest: string };

export interface Build {
  folder: string;
  from: BuiltFrom;
  graphConfigFile: string;
  /** Present where the agent has graphs in Python. */
  python?: PythonEnvironment;
  /** Whether the build left files in its home, which its agents write to as well. Unknown for builds of before. */
  usesHome?: boolean | undefined;
}

/** The Python environment in a build's folder. */
export interface PythonEnvironment {
  /** The name of the shared environment that holds its packages; undefined where it holds them itself. */
  shared: string | undefined;
}

/** The outcome of a build. `interrupted`: the signal aborted, and all files were removed. */
export type BuildEnd =
  /** `warnings`: the messages of `RunningBuild.warn`. */
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
  /** The largest file (bytes) that git may write in a fetch. */
  fetchedBytes: number;
  /** How much output is logged, in bytes and lines; the log notes where more is dropped. */
  outputBytes: number;
  outputLines: number;
  /** The free disk space (bytes) that a build needs to start. It is stopped when less than half of that is left. */
  minFreeBytes: number;
}

export const defaultBuildBounds: BuildBounds = {
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
