import { silentLogger } from '../../../src/kit/logger.ts';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/kit/clock.ts';
import type { FieldSpelling } from '../../../src/contract/control/aliases.ts';
import { removeIsolated } from '../../../src/services/control/isolation/isolation.ts';
import { startLocal } from '../../../src/services/control/local.ts';
import type { LocalServices } from '../../../src/services/control/local.ts';
import { databaseNamed } from '../../services/control/databases-of.ts';
import { dropAgentDatabase } from '../../../src/kit/postgres/databases.ts';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';
import { linkScript } from '../../installed-packages.ts';

/** The services of one machine as `landfall local` starts them, below a path as self-hosted ones are. */
export interface Served extends LocalServices {
  /** The folder of this test; `repo_url` may name `git` in it. */
  folder: string;
  /** Copies an agent of test/journey/agents there, with a substitute for its installation. */
  agent(name: string, folder: string): Promise<void>;
}

/** Starts them; agents are real processes of the agent server. The caller closes them. */
export async function openServed(fieldNames: FieldSpelling): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-partner-'));
  // As root, builds and agents run as other users, who need access to the parent folders.
  chmodSync(folder, 0o711);
  await mkdir(join(folder, 'git'));
  const dataDir = join(folder, 'data');
  const postgres = await startTestPostgres();
  const services = await startLocal({
    port: 0,
    dataDir,
    databaseUrl: postgres.url,
    allowGit: [join(folder, 'git')],
    basePath: '/api-host',
    fieldNames,
    // The public command line names the file with its first upload.
    graphConfigLater: fieldNames === 'public',
    // Images are never run here, whatever this machine has.
    running: { engine: join(folder, 'no-engine') },
    clock: systemClock,
    log: silentLogger,
  });
  const made = new Set<string>();
  return {
    ...services,
    folder,
    async agent(name, to) {
      await cp(join(import.meta.dirname, '../../journey/agents', name), to, { recursive: true });
      await writeFile(join(to, 'link.mjs'), linkScript);
    },
    async close() {
      for (const { id } of (await services.control.listDeployments({ limit: 100 })).resources) made.add(id);
      await services.close();
      for (const id of made) await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
      await postgres.stop();
      await removeIsolated(dataDir);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
