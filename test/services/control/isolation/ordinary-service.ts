import { silentLogger } from '../../../../src/kit/logger.ts';
// Runs two agents as a service of an ordinary user, has one try what it can reach, and prints the result.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { isolate } from '../../../../src/services/control/isolation/isolation.ts';
import { plainSpec } from '../compute/agents.ts';
import { attemptAt, pryingAgent, type Attempt, type Tried } from './prying.ts';

const root = mkdtempSync(join(tmpdir(), 'landfall-ordinary-'));
const dataDir = join(root, 'data');
mkdirSync(dataDir, { mode: 0o711 });
writeFileSync(join(dataDir, 'api-key'), 'lf_key', { mode: 0o600 });
const { ids, warning, program } = await isolate({ dataDir, agentServer: pryingAgent, log: silentLogger });
const compute = processCompute({ clock: systemClock, ...program, warning });

const start = async (name: string) => {
  const folder = join(root, name);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'secret.txt'), name, { mode: 0o600 });
  const started = await compute.start(
    {
      deploymentId: name,
      revisionId: name,
      name,
      program: {
        kind: 'build',
        sourceText: 'nothing',
        folder,
        graphConfigFile: join(folder, 'langgraph.json'),
        homeFolder: join(folder, 'home'),
      },
      databaseUrl: 'postgres://role:a-password@127.0.0.1:1/agent',
      secrets: [],
      ...plainSpec,
      log: () => undefined,
    },
    new AbortController().signal,
  );
  if (started.kind === 'failed') throw new Error(started.reason);
  return started.agent;
};
const agents = [await start('one'), await start('two')] as const;
const tried = (...requested: Attempt): Promise<Tried> => attemptAt(agents[0], requested);

const seen = {
  ids: ids ?? null,
  environmentGiven: await tried('run', 'env'),
  bounds: await tried('run', 'umask; ulimit -c; ulimit -n'),
  status: await tried('text', '/proc/self/status'),
  otherFolder: await tried('text', join(root, 'two', 'secret.txt')),
  key: await tried('read', join(dataDir, 'api-key')),
  environmentOfService: await tried('read', `/proc/${process.pid}/environ`),
};
for (const agent of agents) await agent.stop(2_000);
rmSync(root, { recursive: true, force: true });
console.log(JSON.stringify(seen));
