import { type ExaminedFiles, graphConfigPaths, validate, type Validation } from '../pull-requests/validation.ts';
import { mostCaseFiles } from '../targets/case-texts.ts';
import { type DeployFile, type DeployFileTexts, readDeployFile } from '../targets/file-entries.ts';
import { casePaths } from '../../src/config/cases.ts';
import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

/** Reads files of repositories: they are untrusted, and reading some takes long. */
export interface FileReader {
  /** The graph configuration files that a deploy file names; undefined where it could not be read. */
  graphConfigPaths(deployFile: string): Promise<readonly string[] | undefined>;
  validate(files: ExaminedFiles): Promise<Validation>;
  /** The files of cases that a deploy file names; undefined where it could not be read. */
  casePaths(deployFile: string): Promise<readonly string[] | undefined>;
  readDeployFile(file: DeployFileTexts | undefined): Promise<DeployFile>;
}

/** Why reading a file was given up: a clause without a full stop. */
export const unreadReason = 'reading it takes too much time or memory: make it smaller and simpler';

/** Reads at once, on the calling thread. */
export const readHere: FileReader = {
  graphConfigPaths: async (deployFile) => graphConfigPaths(deployFile),
  validate: async (files) => validate(files),
  casePaths: async (deployFile) => casePaths(deployFile, defaultConfigPath).slice(0, mostCaseFiles),
  readDeployFile: async (file) => readDeployFile(file),
};

/** Reads files on a worker thread. A file that takes too much time or memory is reported as a problem of the file. */
export function threadReader(options: WorkerOptions, deadlineMs?: number): FileReader & { close(): Promise<void> } {
  const worker = startWorker(options, deadlineMs);
  return {
    async graphConfigPaths(deployFile) {
      const json = await worker.request({ name: 'graphConfigPaths', argument: deployFile });
      return json === undefined ? undefined : JSON.parse(json);
    },
    async validate(files) {
      const json = await worker.request({ name: 'validate', argument: files });
      if (json !== undefined) return JSON.parse(json);
      const message = `the files of this commit were not validated: ${unreadReason}`;
      const problem = { file: defaultConfigPath, field: '', line: 1, column: 1, message };
      return { problems: [problem], warnings: [], deployments: [] };
    },
    async casePaths(deployFile) {
      const json = await worker.request({ name: 'casePaths', argument: deployFile });
      return json === undefined ? undefined : JSON.parse(json);
    },
    async readDeployFile(file) {
      if (file === undefined) return { entries: [], notes: [] };
      const json = await worker.request({ name: 'readDeployFile', argument: file });
      return json === undefined ? { entries: [], notes: [], unread: unreadReason } : JSON.parse(json);
    },
    close: worker.close,
  };
}
