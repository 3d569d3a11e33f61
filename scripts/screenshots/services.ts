import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectControlService, type ControlServiceClient } from '../../src/client/control.ts';
import { newApiKey } from '../../src/contract/control/api-key.ts';
import { cleanUp, startReceiver, type Receiver } from '../../src/demo/environment.ts';
import { startLocalService, type LocalService } from '../../src/demo/processes.ts';
import { requestsTo } from '../../src/demo/scenarios.ts';
import { silentLogger } from '../../src/kit/logger.ts';
import { startEmbeddedPostgres } from '../../src/kit/postgres/embedded.ts';

/** Both services in a temporary folder, with a database that the script can write to. */
export interface Services {
  /** The folder of this package. */
  root: string;
  /** Repositories below it may be cloned. */
  git: string;
  service: LocalService;
  /** With the key of the name, which the timelines show. */
  control: ControlServiceClient;
  receiver: Receiver;
  databaseUrl: string;
  close(): Promise<void>;
}

/** @param keyName the name of the key that deploys. */
export async function startServices(root: string, keyName: string): Promise<Services> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-screenshots-'));
  // As root, the database and the agents run as users of their own.
  await chmod(folder, 0o711);
  const data = join(folder, 'data');
  const git = join(folder, 'git');
  const database = join(folder, 'database');
  const stoppables: { stop(): Promise<void> }[] = [];
  const close = (): Promise<void> => cleanUp({ stoppables, folder, data, appData: database }, () => undefined);
  try {
    await Promise.all([git, database].map((each) => mkdir(each)));
    const postgres = await startEmbeddedPostgres({ dataDir: join(database, 'postgres'), log: silentLogger });
    stoppables.push(postgres);
    const receiver = await startReceiver();
    stoppables.push(receiver);
    const env = { ...process.env, DATABASE_URL: postgres.url };
    const service = await startLocalService({ root, data, allowGit: git, env });
    stoppables.push(service);
    const made = await requestsTo(service.url, service).send('/v1/api-keys', { name: keyName });
    const { key } = newApiKey.parse(JSON.parse(made.text));
    const control = connectControlService({
      baseUrl: service.url,
      apiKey: key ?? '',
      userAgent: 'landfall-screenshots',
      spelling: 'contract',
    });
    stoppables.push({ stop: () => control.close() });
    return { root, git, service, control, receiver, databaseUrl: postgres.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
