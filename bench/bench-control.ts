import { connectControlService, type ControlServiceClient } from '../src/client/control.ts';

/** Connects to a service that a benchmark has started. */
export const connectBench = ({ url, apiKey }: { url: string; apiKey: string }): ControlServiceClient =>
  connectControlService({ baseUrl: url, apiKey, spelling: 'contract', userAgent: 'landfall-bench' });
