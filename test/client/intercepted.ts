import nock from 'nock';
import {
  connectControlService,
  type ControlServiceClient,
  type ControlServiceSettings,
} from '../../src/client/control.ts';
import { quickClock } from './stand-in.ts';

// A file of its own: once nock is loaded, connections of the same process fail in other ways than real ones.

export const host = 'https://control.example.test';

/** A client of the control service at `host`. */
export const connectedControl = (settings: Partial<ControlServiceSettings> = {}): ControlServiceClient =>
  connectControlService({
    baseUrl: `${host}/api-host`,
    apiKey: 'the-api-key',
    spelling: 'contract',
    userAgent: 'landfall/test',
    clock: quickClock(),
    env: {},
    retry: { attempts: 2 },
    ...settings,
  });

/** Fails where a response that was prepared was never requested. */
export function checkNothingPending(): void {
  const missed = nock.pendingMocks();
  nock.cleanAll();
  if (missed.length > 0) throw new Error(`never requested: ${missed.join(', ')}`);
}
