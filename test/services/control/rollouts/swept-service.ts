import { silentLogger } from '../../../../src/kit/logger.ts';
// Runs the whole service as a process that kills itself with SIGKILL at a given step.
import { flushCompileCache } from 'node:module';
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startLocal } from '../../../../src/services/control/local.ts';
import { fakeAgent } from '../compute/agents.ts';

const { dataDir, databaseUrl, allowGit } = z
  .object({ dataDir: z.string(), databaseUrl: z.string(), allowGit: z.array(z.string()) })
  .parse(JSON.parse(process.argv[2] ?? ''));

let killAt: string | undefined;
const requested = z.object({ killAt: z.string() });
process.on('message', (message) => {
  killAt = requested.parse(message).killAt;
  process.send?.({ armed: killAt });
});

const services = await startLocal({
  port: 0,
  dataDir,
  databaseUrl,
  allowGit,
  clock: systemClock,
  log: silentLogger,
  agentServer: fakeAgent,
  watchGit: 'off',
  async step(done) {
    if (done !== killAt) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
});
// Nothing else writes it down: this process does not end by itself.
flushCompileCache();
process.once('disconnect', () => void services.close().then(() => process.exit(0)));
process.send?.({ url: services.url, apiKey: services.apiKey });
