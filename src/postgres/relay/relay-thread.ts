import { parentPort, workerData } from 'node:worker_threads';
import { fairRelay } from './fair-relay.ts';
import type { FairRelayOptions } from './fair-relay.ts';

/** What the thread is asked to open. */
export interface OpenRequest {
  path: string;
  limit: number;
}

const options: FairRelayOptions = workerData;
const relay = fairRelay(options);

parentPort?.on('message', ({ path, limit }: OpenRequest) => {
  relay.open(path, limit).then(
    () => parentPort?.postMessage({ path }, []),
    (error: unknown) => parentPort?.postMessage({ path, problem: String(error) }, []),
  );
});
