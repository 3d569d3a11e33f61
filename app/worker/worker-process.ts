// The process that works on untrusted input of repositories and agents. Input that exhausts its memory ends this
// process and not the App, which kills the process if it takes too long.
import { runInThisContext } from 'node:vm';
import { inProcessReader, type ReadMethods } from './file-readers.ts';
import { judgeHere, type Judge } from '../../src/deploy/smoke/judge.ts';
import type { RequestOf, WorkResponse } from './worker.ts';

type Methods = ReadMethods & Judge;
type WorkRequest = RequestOf<Methods>;

/** The longest response (characters): parsing it blocks the App's event loop. */
const maxResponseLength = 1_000_000;

const methods: { [Name in keyof Methods]: (argument: RequestOf<Methods, Name>['argument']) => Promise<unknown> } = {
  ...inProcessReader,
  ...judgeHere,
};

const perform = <Name extends keyof Methods>({ name, argument }: RequestOf<Methods, Name>): Promise<unknown> =>
  methods[name](argument);

async function respond(request: WorkRequest): Promise<WorkResponse> {
  try {
    const json = JSON.stringify(await performWithin(request));
    return json.length > maxResponseLength ? { kind: 'too-large' } : { kind: 'done', json };
  } catch (error) {
    // Thrown for values that are nested too deeply.
    if (error instanceof RangeError) return { kind: 'too-large' };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/**
 * The time limit of this process itself (ms). The App kills the process much sooner, unless the App itself was killed:
 * then an endless reading would outlive it.
 */
const maxTurnMs = 60_000;

/** Starts the work within a time limit of Node, which even a blocked event loop can't delay. */
function performWithin(request: WorkRequest): Promise<unknown> {
  let result: Promise<unknown> = Promise.resolve();
  Object.defineProperty(globalThis, 'startWork', {
    value: () => {
      result = perform(request);
    },
    configurable: true,
  });
  runInThisContext('startWork()', { timeout: maxTurnMs });
  return result;
}

process.on('message', (request: WorkRequest) => {
  void respond(request).then((response) => process.send?.(response));
});
process.send?.({ kind: 'started' } satisfies WorkResponse);
