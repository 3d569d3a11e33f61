import { silentLogger } from '../../src/kit/logger.ts';
// Our control service over HTTP. Its revisions are made instantly from the current content of the repository.
import { once } from 'node:events';
import { systemClock } from '../../src/kit/clock.ts';
import { connectControlService, type ControlServiceClient } from '../../src/client/control.ts';
import { Gateway } from '../../src/services/control/gateway/gateway.ts';
import { hashApiKey, makeApiKey } from '../../src/services/control/api-keys/api-key.ts';
import { createApp } from '../../src/services/control/api/app.ts';
import { createHttpServer } from '../../src/services/control/server.ts';
import type { RevisionRecord } from '../../src/services/control/store/tables.ts';
import { createControlService } from '../../src/services/control/service.ts';
import { openTestStore } from '../services/control/store/open-store.ts';
import { agentsByWord, type Agents } from './app-agents.ts';
import { instantly, type Built } from './app-rollouts.ts';

/** The control service that a journey's App talks to. */
export interface JourneyService {
  url: string;
  apiKey: string;
  tenantId: string;
  /** Our own client of it, as an operator would use it. */
  control: ControlServiceClient;
  /** Holds every build of the deployment from now on. @returns a function that releases them */
  hold(deploymentId: string): () => void;
  /** While true, every connection is closed without a response. */
  isAway: boolean;
  close(): Promise<void>;
}

/**
 * @param read finds what the branch of a repository holds.
 * @param options `holds`: whether it holds revisions before traffic. `agents`: closed with the service.
 */
export async function startJourneyService(
  read: (repoUrl: string, repoRef: string) => Promise<Built>,
  { holds = false, agents = agentsByWord() }: { holds?: boolean | undefined; agents?: Agents | undefined } = {},
): Promise<JourneyService> {
  const opened = await openTestStore(systemClock);
  const { store } = opened;
  const tenantId = await store.addTenant('journey');
  const key = makeApiKey();
  await store.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key) });
  const log = silentLogger;
  const gateway = new Gateway({ authorize: async () => 'allowed', clock: systemClock, log });
  const held = new Map<string, { over: Promise<void>; letGo: () => void }>();
  const words = new Map<string, string>();
  const agentOf = async ({ repo_commit_sha: commit }: RevisionRecord) => ({
    origin: await agents.saying(words.get(commit ?? '') ?? ''),
    token: 'unused',
  });
  const rollouts = instantly(store, {
    async read(revision) {
      const { repo_url: url, repo_ref: ref } = { ...revision.source_config, ...revision.source_revision_config };
      const built = await read(url ?? '', ref ?? 'main');
      words.set(built.commit, built.word);
      return built;
    },
    held: async (deploymentId) => held.get(deploymentId)?.over,
    async hold(revision) {
      const withdraw = gateway.hold(revision.deployment_id, revision.id, await agentOf(revision));
      return () => withdraw(true);
    },
    async serve(revision) {
      const former = gateway.switchTo(revision.deployment_id, await agentOf(revision));
      // Requests that the former one has taken end there.
      void former?.drained().then(former.close);
    },
  });
  let url = '';
  const app = createApp({
    serviceFor: (tenant) =>
      createControlService({ store, rollouts, tenantId: tenant, baseUrl: () => url, allowGit: [], holds }),
    findKey: store.findKey,
    holds,
    fieldNames: 'contract',
    log,
  });
  const server = createHttpServer({
    fetch: app.fetch,
    agents: (request, response) => {
      if (!service.isAway) return gateway.handle(request, response);
      request.socket.destroy();
      return true;
    },
    basePath: '',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service listens at no port');
  url = `http://127.0.0.1:${address.port}`;
  const control = connectControlService({ baseUrl: url, apiKey: key.text, userAgent: 'journey', spelling: 'contract' });
  const service: JourneyService = {
    url,
    apiKey: key.text,
    tenantId,
    control,
    isAway: false,
    hold(deploymentId) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const letGo = (): void => {
        held.delete(deploymentId);
        resolve();
      };
      held.set(deploymentId, { over: promise, letGo });
      return letGo;
    },
    async close() {
      for (const { letGo } of held.values()) letGo();
      await rollouts.settled();
      await control.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await agents.close();
      await opened.close();
    },
  };
  return service;
}
