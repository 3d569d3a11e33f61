import type { Clock } from '../../src/kit/clock.ts';
import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import { FileTooLarge, type GitHubApi, type InstallationRepository } from '../github/github-api.ts';
import type { FileReader } from '../worker/file-readers.ts';
import { readCaseTexts } from './case-texts.ts';
import { type DeployFile, unreadDeployFile } from './file-entries.ts';
import { createSharedReader } from './listed-deployments.ts';

interface DeployFileReaderOptions {
  githubApi: Pick<GitHubApi, 'defaultBranch' | 'file'>;
  clock: Pick<Clock, 'now'>;
  files: Pick<FileReader, 'namedPaths' | 'readDeployFile'>;
}

/** How long the default branch is cached (ms), which seldom changes and is needed for each push. */
const aMinuteMs = 60_000;

/** Reads the deploy files of repositories from their default branch: nothing of a pull request's head is read. */
export function createDeployFileReader({ githubApi, clock, files }: DeployFileReaderOptions) {
  const defaultBranchOf = createSharedReader(
    clock,
    aMinuteMs,
    ({ repositoryId }: InstallationRepository) => repositoryId,
    (repository) => githubApi.defaultBranch(repository),
  );
  const at = async (repository: InstallationRepository, branch: string): Promise<DeployFile> => {
    try {
      const readFile = (path: string) => githubApi.file(repository, path, branch);
      const text = await readFile(defaultConfigPath);
      if (text === undefined) return await files.readDeployFile(undefined, repository);
      const named = await files.namedPaths(text, repository);
      if ('unread' in named) return { entries: [], notes: [], unread: named.unread };
      return await files.readDeployFile({ text, cases: await readCaseTexts(named.cases, readFile) }, repository);
    } catch (error) {
      if (error instanceof FileTooLarge) return unreadDeployFile(error.why);
      throw error;
    }
  };
  return { defaultBranchOf, at };
}

/** How long a deploy file is shared (ms): a sweep looks at all pull requests of a repository. */
const sharedMs = 10_000;

/** Reads the deploy file of the default branch, once for all who need it within some seconds. */
export function createSharedDeployFile(
  options: DeployFileReaderOptions,
): (repository: InstallationRepository) => Promise<DeployFile> {
  const { defaultBranchOf, at } = createDeployFileReader(options);
  return createSharedReader(
    options.clock,
    sharedMs,
    ({ repositoryId }: InstallationRepository) => repositoryId,
    async (repository) => at(repository, await defaultBranchOf(repository)),
  );
}
