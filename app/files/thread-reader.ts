import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../src/clock.ts';
import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import { unreadDeployFile } from '../targets/file-entries.ts';
import type { FileReader } from './readers.ts';
import type { Answer, Question } from './thread.ts';

/** How long one reading may take (ms): a file of the largest size takes less than a tenth of it. */
const usualDeadlineMs = 10_000;

/** Memory that reading may take (MB). */
const mostMemoryMb = 256;

/** Beside this file in the source, and beside the bundle that holds this file. */
const program = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './read-files.js', import.meta.url);

const why = 'reading it takes too much time or memory: make it smaller and simpler';

/**
 * Reads files on a worker thread, one after the other. A read that exceeds its time or memory ends with its thread and
 * is reported as a problem of the file; the next one gets a new thread.
 */
export function threadReader(
  { clock, log }: { clock: Pick<Clock, 'sleep'>; log: (message: string) => void },
  deadlineMs = usualDeadlineMs,
): FileReader & { close(): Promise<void> } {
  let thread: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function open(): Worker {
    const opened = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb } });
    opened.unref();
    opened.on('error', (error) => log(`The thread that reads files of repositories broke: ${String(error)}`));
    opened.on('exit', () => {
      if (thread === opened) thread = undefined;
    });
    return opened;
  }

  async function askThread(question: Question): Promise<string | undefined> {
    const requested = (thread ??= open());
    const over = new AbortController();
    const { signal } = over;
    try {
      requested.postMessage(question, []);
      const answered = once(requested, 'message', { signal }).then(([answer]: Answer[]) => answer);
      const ended = once(requested, 'exit', { signal }).then(() => undefined);
      const late = clock.sleep(deadlineMs, signal).then(() => undefined);
      // A thread that fails sends no response.
      const waits = [answered, ended, late].map((wait) => wait.catch(() => undefined));
      const answer = await Promise.race(waits);
      if (answer === undefined) {
        thread = undefined;
        await requested.terminate();
        // An unread file is no result: the next process retries the job.
        if (isClosed) throw new Error('The App is stopping, so a file was not read.');
        return undefined;
      }
      if (answer.kind === 'failed') throw new Error(`A file could not be read: ${answer.stack}`);
      return answer.kind === 'read' ? answer.json : undefined;
    } finally {
      over.abort();
    }
  }

  /** The value as JSON; undefined if reading was given up. */
  function ask(question: Question): Promise<string | undefined> {
    const requested = last.then(() => askThread(question));
    last = requested.catch(() => undefined);
    return requested;
  }

  return {
    async graphConfigPaths(deployFile) {
      const json = await ask({ name: 'graphConfigPaths', argument: deployFile });
      return json === undefined ? [] : JSON.parse(json);
    },
    async validate(files) {
      const json = await ask({ name: 'validate', argument: files });
      if (json !== undefined) return JSON.parse(json);
      const message = `the files of this commit were not validated: ${why}`;
      const problem = { file: defaultConfigPath, field: '', line: 1, column: 1, message };
      return { problems: [problem], warnings: [], deployments: [] };
    },
    async readDeployFile(text) {
      if (text === undefined) return { entries: [], notes: [] };
      const json = await ask({ name: 'readDeployFile', argument: text });
      return json === undefined ? unreadDeployFile(why) : JSON.parse(json);
    },
    async close() {
      isClosed = true;
      await thread?.terminate();
    },
  };
}
