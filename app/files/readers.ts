import { graphConfigPaths, type ExaminedFiles } from '../pull-requests/examined-files.ts';
import { validate, type Validation } from '../pull-requests/validation.ts';
import { readDeployFile, type DeployFile } from '../targets/file-entries.ts';

/** Reads files of repositories: they are untrusted, and reading some takes long. */
export interface FileReader {
  /** The graph configuration files that a deploy file names; undefined where it could not be read. */
  graphConfigPaths(deployFile: string): Promise<readonly string[] | undefined>;
  validate(files: ExaminedFiles): Promise<Validation>;
  readDeployFile(text: string | undefined): Promise<DeployFile>;
}

/** Why reading a file was given up: a clause without a full stop. */
export const whyUnread = 'reading it takes too much time or memory: make it smaller and simpler';

/** Reads at once, on the calling thread. */
export const readHere: FileReader = {
  graphConfigPaths: async (deployFile) => graphConfigPaths(deployFile),
  validate: async (files) => validate(files),
  readDeployFile: async (text) => readDeployFile(text),
};
