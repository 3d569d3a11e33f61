import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { casePaths } from '../../src/deploy/file/cases.ts';
import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import { type Clock, steadyNow } from '../../src/kit/clock.ts';
import { problemOfFile } from '../../src/kit/diagnostics/problem.ts';
import { type ExaminedFiles, graphConfigPaths, validate, type Validation } from '../pull-requests/validation.ts';
import { maxCaseFiles } from '../targets/case-texts.ts';
import { type DeployFile, type DeployFileTexts, readDeployFile } from '../targets/file-entries.ts';
import type { Readings } from '../inbox/readings.ts';
import type { ReadingBudget } from './reading-budget.ts';
import type { InputOwner } from './turns.ts';
import { type RequestOf, startWorker, type WorkerOptions, type WorkResult } from './worker.ts';

/** The files that a deploy file names. */
export interface NamedPaths {
  graphConfigs: readonly string[];
  cases: readonly string[];
}

/** Reads files of repositories: they are untrusted, and reading some takes long. */
export interface FileReader {
  /** What a deploy file names; `unread` says why it could not be read. */
  namedPaths(deployFile: string, of: InputOwner): Promise<NamedPaths | Unread>;
  validate(files: ExaminedFiles, of: InputOwner): Promise<Validation>;
  readDeployFile(file: DeployFileTexts | undefined, of: InputOwner): Promise<DeployFile>;
}

/** Why reading a file was given up: a clause without a full stop. */
export interface Unread {
  unread: string;
}

/** What is done with the texts alone, whoever owns them. */
export interface ReadMethods {
  namedPaths(deployFile: string): Promise<NamedPaths>;
  validate(files: ExaminedFiles): Promise<Validation>;
  readDeployFile(file: DeployFileTexts | undefined): Promise<DeployFile>;
}

/** Reads at once, in the calling process. */
export const readHere: ReadMethods = {
  namedPaths: async (deployFile) => ({
    graphConfigs: graphConfigPaths(deployFile),
    cases: casePaths(deployFile, defaultConfigPath).slice(0, maxCaseFiles),
  }),
  validate: async (files) => validate(files),
  readDeployFile: async (file) => readDeployFile(file),
};

export interface ProcessReaderOptions extends Omit<WorkerOptions, 'guard'> {
  clock: Pick<Clock, 'sleep' | 'now' | 'steadyNow'>;
  readings: Readings;
  budget: ReadingBudget;
}

const simpler = 'make it smaller and simpler';
const reasons: Record<Exclude<WorkResult['kind'], 'done' | 'refused'>, string> = {
  late: `reading it takes too much time: ${simpler}`,
  died: `reading it takes too much memory: ${simpler}`,
  killed: `the process that read it was killed twice, as it is where memory runs out: ${simpler}`,
  'too-large': `what it says is too large: ${simpler}`,
};
const readBefore = `reading it took too much time or memory before, so it is not read again: ${simpler}`;

/** The digests that are remembered of what was read well, so that they need no mark. */
const maxRemembered = 1_000;

/**
 * Reads files in a process of its own. A file that takes too much time or memory is reported as a problem of the file,
 * and not read again. It is marked before it is read: where reading it ends the App as well, the next start knows.
 */
export function processReader(options: ProcessReaderOptions): FileReader & { close(): Promise<void> } {
  const { clock, readings, budget } = options;
  const readWell = new Set<string>();

  const worker = startWorker<RequestOf<ReadMethods>>({
    ...options,
    async guard(request, owner, perform) {
      const waitMs = owner && budget.wait(owner);
      if (waitMs !== undefined) return { kind: 'refused', why: overBudget(waitMs) };
      const digest = createHash('sha256')
        .update(serialize([request.name, request.argument]))
        .digest('hex');
      let isMarked = !readWell.has(digest);
      if (isMarked && !(await readings.begin(digest, 'first'))) return { kind: 'refused', why: readBefore };
      // The kernel may have chosen the reader for the memory of another process: read once more, and marked before.
      const mayRepeat = (): Promise<boolean> => {
        isMarked = true;
        return readings.begin(digest, 'again');
      };
      const since = steadyNow(clock);
      let result: WorkResult | undefined;
      try {
        return (result = await perform(mayRepeat));
      } finally {
        if (owner) budget.spend(owner, steadyNow(clock) - since);
        if (result?.kind === 'done') {
          if (readWell.size >= maxRemembered) readWell.clear();
          readWell.add(digest);
        }
        const how = howRead(result);
        if (isMarked || how !== 'read') await readings.end(digest, how);
      }
    },
  });
  const whyOf = (result: Exclude<WorkResult, { kind: 'done' }>): string =>
    result.kind === 'refused' ? result.why : reasons[result.kind];

  return {
    async namedPaths(deployFile, of) {
      const result = await worker.request({ name: 'namedPaths', argument: deployFile }, of);
      return result.kind === 'done' ? JSON.parse(result.json) : { unread: whyOf(result) };
    },
    async validate(files, of) {
      const result = await worker.request({ name: 'validate', argument: files }, of);
      if (result.kind === 'done') return JSON.parse(result.json);
      const message = `the files of this commit were not validated: ${whyOf(result)}`;
      return { problems: [problemOfFile(defaultConfigPath, message)], warnings: [], deployments: [] };
    },
    async readDeployFile(file, of) {
      if (file === undefined) return { entries: [], notes: [] };
      const result = await worker.request({ name: 'readDeployFile', argument: file }, of);
      return result.kind === 'done' ? JSON.parse(result.json) : { entries: [], notes: [], unread: whyOf(result) };
    },
    close: worker.close,
  };
}

/** How a reading with this result is marked. What the App itself ended, as it stops, was not given up. */
function howRead(result: WorkResult | undefined): 'read' | 'late' | 'died' {
  switch (result?.kind) {
    case 'late':
      return 'late';
    case 'died':
    case 'killed':
      return 'died';
    default:
      return 'read';
  }
}

const overBudget = (waitMs: number): string =>
  `reading the files of this repository has taken all the time that it may take within an hour: press Re-run in ${Math.ceil(waitMs / 60_000)} minutes`;
