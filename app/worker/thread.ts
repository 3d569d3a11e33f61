// The thread for work on the input of one repository or one agent, so that none of them keeps the App from its other
// work.
import { parentPort } from 'node:worker_threads';
import { readHere, type FileReader } from './file-readers.ts';
import { judgeHere, type Judge } from '../verify/judge.ts';

type WorkerApi = FileReader & Judge;

/** A request to the thread. */
export type WorkRequest = {
  [Name in keyof WorkerApi]: { name: Name; argument: Parameters<WorkerApi[Name]>[0] };
}[keyof WorkerApi];

/** What it responds: that it has started, and then the value as JSON, why there is none, or that it is too large. */
export type WorkResponse =
  { kind: 'started' } | { kind: 'done'; json: string } | { kind: 'failed'; stack: string } | { kind: 'too-large' };

/** The longest response (characters): parsing it blocks the main thread. */
const longestResponse = 1_000_000;

function perform(request: WorkRequest): Promise<unknown> {
  switch (request.name) {
    case 'graphConfigPaths':
      return readHere.graphConfigPaths(request.argument);
    case 'validate':
      return readHere.validate(request.argument);
    case 'casePaths':
      return readHere.casePaths(request.argument);
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
    const json = JSON.stringify(await perform(request));
    return json.length > longestResponse ? { kind: 'too-large' } : { kind: 'done', json };
  } catch (error) {
    // Values that are nested too deep.
    if (error instanceof RangeError) return { kind: 'too-large' };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', (request: WorkRequest) => {
  void respond(request).then((response) => parentPort?.postMessage(response, []));
});
parentPort?.postMessage({ kind: 'started' } satisfies WorkResponse, []);
