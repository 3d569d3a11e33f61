import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import { startWorker, type WorkerOptions } from '../worker/worker.ts';
import { whyUnread, type FileReader } from './readers.ts';

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
      const message = `the files of this commit were not validated: ${whyUnread}`;
      const problem = { file: defaultConfigPath, field: '', line: 1, column: 1, message };
      return { problems: [problem], warnings: [], deployments: [] };
    },
    async readDeployFile(text) {
      if (text === undefined) return { entries: [], notes: [] };
      const json = await worker.request({ name: 'readDeployFile', argument: text });
      return json === undefined ? { entries: [], notes: [], unread: whyUnread } : JSON.parse(json);
    },
    close: worker.close,
  };
}
