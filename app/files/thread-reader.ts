import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../src/clock.ts';
import { defaultConfigPath } from '../../src/config/deploy-file.ts';
import { whyUnread, type FileReader } from './readers.ts';
import type { Answer, Question } from './thread.ts';

/** How long one reading may take on a thread that has started (ms): a file of the largest size takes less than a tenth of it. */
const usualDeadlineMs = 10_000;

/** Memory that reading may take (MB). */
const mostMemoryMb = 256;

/** Beside this file in the source, and beside the bundle that holds this file. */
const program = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './read-files.js', import.meta.url);

/** A reading that was given up is tried once more: what else the machine does may have been the reason. */
const attempts = 2;

/** A thread, and its first message: undefined where it ended without one. */
interface Started {
  worker: Worker;
  start: Promise<Answer | undefined>;
}

/** The next message of a thread; undefined where it ends, breaks, or is waited for no longer. */
async function next(worker: Worker, signal?: AbortSignal): Promise<Answer | undefined> {
  const over = new AbortController();
  const waits = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const message = once(worker, 'message', { signal: waits }).then(([answer]: Answer[]) => answer);
  const exit = once(worker, 'exit', { signal: waits }).then(() => undefined);
  try {
    return await Promise.race([message, exit].map((wait) => wait.catch(() => undefined)));
  } finally {
    over.abort();
  }
}

/**
 * Reads files on a thread of its own, one after the other. A reading that takes too long or too much is given up with
 * its thread, tried once more on a new one, and then reported as a problem of the file.
 */
export function threadReader(
  { clock, log }: { clock: Pick<Clock, 'sleep'>; log: (message: string) => void },
  deadlineMs = usualDeadlineMs,
): FileReader & { close(): Promise<void> } {
  let thread: Started | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function open(): Started {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb } });
    worker.unref();
    worker.on('error', (error) => log(`The thread that reads files of repositories broke: ${String(error)}`));
    // A thread that breaks before it has started answers nothing either.
    const started = { worker, start: next(worker) };
    worker.on('exit', () => {
      if (thread === started) thread = undefined;
    });
    return started;
  }

  async function askThread(question: Question): Promise<Exclude<Answer, { kind: 'started' }> | undefined> {
    const requested = (thread ??= open());
    const over = new AbortController();
    try {
      // The start of a thread takes its time on a busy machine, which is no fault of the file.
      const hasStarted = (await requested.start) !== undefined;
      if (hasStarted) requested.worker.postMessage(question, []);
      const late = clock.sleep(deadlineMs, over.signal).catch(() => undefined);
      const answer = hasStarted ? await Promise.race([next(requested.worker, over.signal), late]) : undefined;
      if (answer && answer.kind !== 'started') return answer;
      if (thread === requested) thread = undefined;
      await requested.worker.terminate();
      // A file that was not read for want of a thread says nothing: its job is done again by the next process.
      if (isClosed) throw new Error('The App is stopping, so a file was not read.');
      return undefined;
    } finally {
      over.abort();
    }
  }

  async function askTwice(question: Question): Promise<string | undefined> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const answer = await askThread(question);
      if (answer?.kind === 'failed') throw new Error(`A file could not be read: ${answer.stack}`);
      if (answer) return answer.kind === 'read' ? answer.json : undefined;
    }
    return undefined;
  }

  /** The value as JSON; undefined where reading was given up. */
  function ask(question: Question): Promise<string | undefined> {
    const requested = last.then(() => askTwice(question));
    last = requested.catch(() => undefined);
    return requested;
  }

  return {
    async graphConfigPaths(deployFile) {
      const json = await ask({ name: 'graphConfigPaths', argument: deployFile });
      return json === undefined ? undefined : JSON.parse(json);
    },
    async validate(files) {
      const json = await ask({ name: 'validate', argument: files });
      if (json !== undefined) return JSON.parse(json);
      const message = `the files of this commit were not validated: ${whyUnread}`;
      const problem = { file: defaultConfigPath, field: '', line: 1, column: 1, message };
      return { problems: [problem], warnings: [], deployments: [] };
    },
    async readDeployFile(text) {
      if (text === undefined) return { entries: [], notes: [] };
      const json = await ask({ name: 'readDeployFile', argument: text });
      return json === undefined ? { entries: [], notes: [], unread: whyUnread } : JSON.parse(json);
    },
    async close() {
      isClosed = true;
      await thread?.worker.terminate();
    },
  };
}
