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

/** Reads files of repositories, which are untrusted and may take long to read. */
export interface FileReader {
  /** The paths that a deploy file names. */
  namedPaths(deployFile: string, of: InputOwner): Promise<NamedPaths | Unread>;
  validate(files: ExaminedFiles, of: InputOwner): Promise<Validation>;
  readDeployFile(file: DeployFileTexts | undefined, of: InputOwner): Promise<DeployFile>;
}

/** Why reading a file was given up: a clause without a full stop. */
export interface Unread {
  unread: string;
}

/** The methods of a reader without the owner of the files. */
export interface ReadMethods {
  namedPaths(deployFile: string): Promise<NamedPaths>;
  validate(files: ExaminedFiles): Promise<Validation>;
  readDeployFile(file: DeployFileTexts | undefined): Promise<DeployFile>;
}

/** Reads in the calling process. */
export const inProcessReader: ReadMethods = {
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

const advice = 'make it smaller and simpler';
const reasonByKind: Record<Exclude<WorkResult['kind'], 'done' | 'refused'>, string> = {
  late: `reading it takes too much time: ${advice}`,
  died: `reading it takes too much memory: ${advice}`,
  killed: `the process that read it was killed twice, as it is where memory runs out: ${advice}`,
  'too-large': `what it says is too large: ${advice}`,
};
const refusedBefore = `reading it took too much time or memory before, so it is not read again: ${advice}`;

/** How many digests of successfully read content are remembered, so that they need no mark. */
const maxRemembered = 1_000;

/**
 * Reads files in a separate process. A file that takes too much time or memory is reported as a problem of the file,
 * and not read again. It is marked before it is read, so that the next start knows if reading it ended even the App.
 */
export function createProcessReader(options: ProcessReaderOptions): FileReader & { close(): Promise<void> } {
  const { clock, readings, budget } = options;
  const readDigests = new Set<string>();

  const worker = startWorker<RequestOf<ReadMethods>>({
    ...options,
    async guard(request, owner, perform) {
      const waitMs = owner && budget.wait(owner);
      if (waitMs !== undefined) return { kind: 'refused', why: overBudget(waitMs) };
      const digest = createHash('sha256')
        .update(serialize([request.name, request.argument]))
        .digest('hex');
      let isMarked = !readDigests.has(digest);
      if (isMarked && !(await readings.begin(digest, 'first'))) return { kind: 'refused', why: refusedBefore };
      // The kernel may have killed the reader for the memory of another process, so mark the file and read it once
      // more.
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
          if (readDigests.size >= maxRemembered) readDigests.clear();
          readDigests.add(digest);
        }
        const how = readingOutcome(result);
        if (isMarked || how !== 'read') await readings.end(digest, how);
      }
    },
  });
  const reasonOf = (result: Exclude<WorkResult, { kind: 'done' }>): string =>
    result.kind === 'refused' ? result.why : reasonByKind[result.kind];

  return {
    async namedPaths(deployFile, of) {
      const result = await worker.request({ name: 'namedPaths', argument: deployFile }, of);
      return result.kind === 'done' ? JSON.parse(result.json) : { unread: reasonOf(result) };
    },
    async validate(files, of) {
      const result = await worker.request({ name: 'validate', argument: files }, of);
      if (result.kind === 'done') return JSON.parse(result.json);
      const message = `the files of this commit were not validated: ${reasonOf(result)}`;
      return { problems: [problemOfFile(defaultConfigPath, message)], warnings: [], deployments: [] };
    },
    async readDeployFile(file, of) {
      if (file === undefined) return { entries: [], notes: [] };
      const result = await worker.request({ name: 'readDeployFile', argument: file }, of);
      return result.kind === 'done' ? JSON.parse(result.json) : { entries: [], notes: [], unread: reasonOf(result) };
    },
    close: worker.close,
  };
}

/** How to mark a reading with this result. A reading that the App ended at its shutdown was not given up. */
function readingOutcome(result: WorkResult | undefined): 'read' | 'late' | 'died' {
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
