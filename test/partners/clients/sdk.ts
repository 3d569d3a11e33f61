import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { waitUntilSame, works } from './case.ts';
import type { ClientCase, ClientServer } from './case.ts';

/** The packages of the clients, with a lock file of their own. */
export const packages = join(import.meta.dirname, '../node-clients');

/** Loads a package of theirs. */
export const load = createRequire(join(packages, 'package.json'));

/** The versions of the official client, and the names that they are installed under. */
const sdks = { '1.11.2': 'sdk-1-11', '1.12.1': 'sdk-1-12', '1.15.0': '@langchain/langgraph-sdk' } as const;

export type SdkVersion = keyof typeof sdks;

const sdkVersions: readonly SdkVersion[] = ['1.11.2', '1.12.1', '1.15.0'];

/** A client of that version. */
export function clientOf(version: SdkVersion, { url, apiKey }: ClientServer): Client {
  const sdk: typeof import('@langchain/langgraph-sdk') = load(sdks[version]);
  return new sdk.Client({ apiUrl: url, apiKey });
}

/** Waits until no run is under way on a thread: the public server ends a stream before that. */
export const waitUntilIdle = ({ threads }: Client, threadId: string): Promise<void> =>
  waitUntilSame(async () => (await threads.get(threadId)).status !== 'busy', true);

/** The cases of a feature of the official client, one for each version that has it. */
export const sdkCases = (
  feature: string,
  use: (client: Client) => Promise<string | void>,
  versions = sdkVersions,
): ClientCase[] =>
  versions.map((version) => ({
    client: '@langchain/langgraph-sdk',
    version,
    feature,
    run: async (server) => (await use(clientOf(version, server))) ?? works,
  }));

/** An event of a stream. */
export interface StreamEvent {
  id?: string | undefined;
  event: string;
  data: unknown;
}

/** The names of events in the order in which they came first. */
export const namesOf = (events: readonly StreamEvent[]): string[] => [...new Set(events.map(({ event }) => event))];
