// The process for work on the input of one repository or one agent: what exhausts its memory ends this process, and not
// the App. The App ends it where it takes too long.
import { runInThisContext } from 'node:vm';
import { readHere, type ReadMethods } from './file-readers.ts';
import { judgeHere, type Judge } from '../../src/deploy/smoke/judge.ts';

type WorkerApi = ReadMethods & Judge;

/** A request to the process. */
export type WorkRequest = {
  [Name in keyof WorkerApi]: { name: Name; argument: Parameters<WorkerApi[Name]>[0] };
}[keyof WorkerApi];

/** What it responds: that it has started, and then the value as JSON, why there is none, or that it is too large. */
export type WorkResponse =
  { kind: 'started' } | { kind: 'done'; json: string } | { kind: 'failed'; stack: string } | { kind: 'too-large' };

/** The longest response (characters): parsing it blocks the App's event loop. */
const longestResponse = 1_000_000;

function perform(request: WorkRequest): Promise<unknown> {
  switch (request.name) {
    case 'namedPaths':
      return readHere.namedPaths(request.argument);
    case 'validate':
      return readHere.validate(request.argument);
    case 'readDeployFile':
      return readHere.readDeployFile(request.argument);
    case 'nextAttempt':
      return judgeHere.nextAttempt(request.argument);
    case 'conclude':
      return judgeHere.conclude(request.argument);
    case 'compareStates':
      return judgeHere.compareStates(request.argument);
    case 'measure':
      return judgeHere.measure(request.argument);
  }
}

async function respond(request: WorkRequest): Promise<WorkResponse> {
  try {
    const json = JSON.stringify(await performWithin(request));
    return json.length > longestResponse ? { kind: 'too-large' } : { kind: 'done', json };
  } catch (error) {
    // Values that are nested too deep.
    if (error instanceof RangeError) return { kind: 'too-large' };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/**
 * The longest turn of this process (ms). The App ends it much sooner; but an App that was killed ends nothing, and a
 * reading without end would outlive it.
 */
const longestTurnMs = 60_000;

/** Starts the work within Node's own limit of time, which no work of ours can hold up. */
function performWithin(request: WorkRequest): Promise<unknown> {
  let result: Promise<unknown> = Promise.resolve();
  Object.defineProperty(globalThis, 'startWork', {
    value: () => {
      result = perform(request);
    },
    configurable: true,
  });
  runInThisContext('startWork()', { timeout: longestTurnMs });
  return result;
}

process.on('message', (request: WorkRequest) => {
  void respond(request).then((response) => process.send?.(response));
});
process.send?.({ kind: 'started' } satisfies WorkResponse);
