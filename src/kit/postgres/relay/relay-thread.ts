import { parentPort, workerData } from 'node:worker_threads';
import { fairRelay, type FairRelayOptions } from './fair-relay.ts';

/** A request to the thread to listen. */
export interface OpenRequest {
  path: string;
  limit: number;
}

/** Whether the thread listens there now. */
export interface OpenResult {
  path: string;
  problem?: string;
}

/** A process of the server that has to be terminated. */
export interface TerminateRequest {
  pid: number;
}

const options: FairRelayOptions = workerData;
const relay = fairRelay({
  ...options,
  terminate: (pid) => parentPort?.postMessage({ pid } satisfies TerminateRequest, []),
});

parentPort?.on('message', ({ path, limit }: OpenRequest) => {
  relay.open(path, limit).then(
    () => parentPort?.postMessage({ path }, []),
    (error: unknown) => parentPort?.postMessage({ path, problem: String(error) }, []),
  );
});
