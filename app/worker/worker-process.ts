// The process for work on the input of one repository or one agent: what exhausts its memory ends this process, and not
// the App. The App ends it where it takes too long.
import { runInThisContext } from 'node:vm';
import { readHere, type ReadMethods } from './file-readers.ts';
import { judgeHere, type Judge } from '../../src/deploy/smoke/judge.ts';
import type { RequestOf, WorkResponse } from './worker.ts';

type Methods = ReadMethods & Judge;
type WorkRequest = RequestOf<Methods>;

/** The longest response (characters): parsing it blocks the App's event loop. */
const maxResponseLength = 1_000_000;

const methods: { [Name in keyof Methods]: (argument: RequestOf<Methods, Name>['argument']) => Promise<unknown> } = {
  ...readHere,
  ...judgeHere,
};

const perform = <Name extends keyof Methods>({ name, argument }: RequestOf<Methods, Name>): Promise<unknown> =>
  methods[name](argument);

async function respond(request: WorkRequest): Promise<WorkResponse> {
  try {
    const json = JSON.stringify(await performWithin(request));
    return json.length > maxResponseLength ? { kind: 'too-large' } : { kind: 'done', json };
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
const maxTurnMs = 60_000;

/** Starts the work within Node's own limit of time, which no work of ours can hold up. */
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
