import { graphConfigPaths, type ExaminedFiles } from '../pull-requests/examined-files.ts';
import { validate, type Validation } from '../pull-requests/validation.ts';
import { readDeployFile, type DeployFile } from '../targets/file-entries.ts';

/** Reads files of repositories: they are untrusted, and reading some takes long. */
export interface FileReader {
  /** The graph configuration files that a deploy file names. */
  graphConfigPaths(deployFile: string): Promise<readonly string[]>;
  validate(files: ExaminedFiles): Promise<Validation>;
  readDeployFile(text: string | undefined): Promise<DeployFile>;
}

/** Reads synchronously on the calling thread. */
export const readHere: FileReader = {
  graphConfigPaths: async (deployFile) => graphConfigPaths(deployFile),
  validate: async (files) => validate(files),
  readDeployFile: async (text) => readDeployFile(text),
};
