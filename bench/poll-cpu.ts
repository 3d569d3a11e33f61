// What one look at a revision costs: our client with its deadline, its retry policy and zod, beside the least that
// node:http can do and the fetch that a script would use. The service is in a process of its own and does not count.
import { Agent, get } from 'node:http';
import { connectControlService } from '../src/client/control.ts';
import { contend, cpuEach, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { startLoopbackService } from './loopback-service.ts';
import { interleave, median, sized, spread } from './rounds.ts';

const deploymentId = '0c1d2e3f-0000-4000-8000-000000000001';
const revisionId = '0c1d2e3f-0000-4000-8000-000000000002';
const path = `/v2/deployments/${deploymentId}/revisions/${revisionId}`;
const pollsEach = sized(1000, 10);

const headers = { accept: 'application/json', 'x-api-key': 'a-key', 'user-agent': 'landfall-bench' };

function notes(json: unknown): void {
  if (typeof json !== 'object' || json === null || !('status' in json)) throw new Error('this is no revision');
}

const contenders = {
  ours: (url: string) => {
    const control = connectControlService({
      baseUrl: url,
      spelling: 'contract',
      apiKey: 'a-key',
      userAgent: 'landfall-bench',
      env: {},
    });
    return polling(async () => {
      notes(await control.getRevision(deploymentId, revisionId, { deadline: Date.now() + 30_000 }));
    });
  },
  floor: (url: string) => {
    const agent = new Agent({ keepAlive: true });
    return polling(
      () =>
        new Promise((resolve, reject) => {
          get(`${url}${path}`, { agent, headers }, (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () => {
              notes(JSON.parse(Buffer.concat(chunks).toString('utf8')));
              resolve();
            });
          }).on('error', reject);
        }),
    );
  },
  peer: (url: string) =>
    polling(async () => {
      const response = await fetch(`${url}${path}`, { headers });
      notes(JSON.parse(await response.text()));
    }),
};

const polling = (poll: () => Promise<void>) => ({ round: () => cpuEach(pollsEach, poll) });

/** CPU time of one poll (microseconds). */
export async function pollCpu(): Promise<Measured[]> {
  await using service = await startLoopbackService();
  const start = (name: keyof typeof contenders) => startContender(import.meta.filename, name, service.url);
  await using ours = await start('ours');
  await using floor = await start('floor');
  await using peer = await start('peer');
  const measured = await interleave({ ours, floor, peer }, { rounds: 15, warmups: 3 });
  return [
    {
      figure: 'poll-cpu',
      unit: 'us CPU',
      ours: median(measured.ours),
      floor: median(measured.floor),
      peer: median(measured.peer),
      notes: {
        ours: 'getRevision of our client: deadline, retry, zod',
        floor: 'node:http, kept alive, JSON.parse',
        peer: 'fetch, JSON.parse',
      },
      targets: [
        { of: 'floor', most: 1.25 },
        { of: 'peer', most: 0.6 },
      ],
      spread: spread(measured.ours),
    },
  ];
}

if (import.meta.main) await contend(contenders);
