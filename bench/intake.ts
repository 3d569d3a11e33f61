// What taking one webhook costs, nothing stored: our intake with a store that answers at once, beside the least that
// node:http can do and Probot's own middleware. Each is a process of its own, and so is who sends.
import { startBare } from './bare-server.ts';
import { contend, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { startOurs } from './our-intake.ts';
import { startProbot } from './probot-server.ts';
import { type Contender, interleave, median, sized, spread } from './rounds.ts';
import { startWebhookLoad } from './webhook-load.ts';

const requestsEach = sized(2_000, 20);
const atOnce = 8;

async function serving(port: number): Promise<Contender> {
  const load = await startWebhookLoad(port);
  return {
    round: async () => {
      const before = process.cpuUsage();
      await load.send(requestsEach, atOnce);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / requestsEach;
    },
  };
}

const contenders = {
  ours: async () => serving(await startOurs(async () => 'stored')),
  floor: async () => serving(await startBare()),
  peer: async () => serving(await startProbot()),
};

/** CPU time of one webhook (microseconds). */
export async function intake(): Promise<Measured[]> {
  const start = (name: keyof typeof contenders) => startContender(import.meta.filename, name);
  await using ours = await start('ours');
  await using floor = await start('floor');
  await using peer = await start('peer');
  const measured = await interleave({ ours, floor, peer }, { rounds: 15, warmups: 3 });
  return [
    {
      figure: 'intake',
      unit: 'us CPU',
      ours: median(measured.ours),
      floor: median(measured.floor),
      peer: median(measured.peer),
      notes: {
        ours: 'our intake, with a store that answers at once',
        floor: 'node:http, HMAC, JSON.parse',
        peer: "Probot's own middleware, with a handler that does nothing",
      },
      targets: [
        { of: 'floor', most: 1.25 },
        { of: 'peer', most: 0.75 },
      ],
      spread: spread(measured.ours),
    },
  ];
}

if (import.meta.main) await contend(contenders);
