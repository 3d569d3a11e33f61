import { join } from 'node:path';
import { systemClock } from '../../../../src/kit/clock.ts';
import type {
  Build,
  BuildEnd,
  BuildRequest,
  Commit,
  GitSource,
} from '../../../../src/services/control/builds/build.ts';
import { makeBuild, type BuildDependencies } from '../../../../src/services/control/builds/make-build.ts';
import { repository, temporaryFolder, type Files } from './repositories.ts';

export interface Requested {
  /** What to build; the fields of `git` override those of the repository. */
  request?: Partial<BuildRequest & Omit<GitSource, 'kind'>>;
  settings?: Partial<BuildDependencies>;
  signal?: AbortSignal;
}

/** A data folder for builds, with one repository below the one allowed folder. */
export interface Workplace {
  root: string;
  allowed: string;
  dataDir: string;
  repo: string;
  /** The head of `main`. */
  head: string;
  lines: string[];
  commits: Commit[];
  tryBuild: (requested?: Requested) => Promise<BuildEnd>;
  /** The build, with its commit; empty for a tarball. */
  build: (requested?: Requested) => Promise<Build & { commit: string }>;
  reason: (requested?: Requested) => Promise<string>;
}

export function workplace(files: Files, atTheEnd: (() => void)[]): Workplace {
  const root = temporaryFolder(atTheEnd);
  const allowed = join(root, 'allowed');
  const dataDir = join(root, 'data');
  const { folder: repo, commit: head } = repository(join(allowed, 'agent'), files);
  const lines: string[] = [];
  const commits: Commit[] = [];

  const tryBuild = ({ request = {}, settings, signal }: Requested = {}): Promise<BuildEnd> => {
    const { repoUrl = repo, commit, token, endToken, ...others } = request;
    const repoRef = 'repoRef' in request ? request.repoRef : 'main';
    return makeBuild(
      {
        revisionId: 'r-1',
        tenantId: 't-1',
        from: { kind: 'git', repoUrl, repoRef, commit, token, endToken },
        graphConfigPath: 'langgraph.json',
        installCommand: undefined,
        buildCommand: undefined,
        secrets: [],
        log: (level, message) => lines.push(level === 'info' ? message : `${level}: ${message}`),
        onCommit: async (built) => void commits.push(built),
        ...others,
      },
      { dataDir, allowGit: [allowed], clock: systemClock, ...settings },
      signal ?? new AbortController().signal,
    );
  };
  return {
    root,
    allowed,
    dataDir,
    repo,
    head,
    lines,
    commits,
    tryBuild,
    async build(requested) {
      const end = await tryBuild(requested);
      if (end.kind !== 'built') throw new Error(end.kind === 'failed' ? end.reason : end.kind);
      return { ...end.build, commit: end.build.from.kind === 'commit' ? end.build.from.commit : '' };
    },
    async reason(requested) {
      const end = await tryBuild(requested);
      if (end.kind !== 'failed') throw new Error(`it was ${end.kind}`);
      return end.reason;
    },
  };
}
