import { type Clock, steadyNow } from '../../../kit/clock.ts';
import type { ControlStore } from '../store/store.ts';
import type { IntegrationRecord, RepositoryRecord } from '../store/tables.ts';
import { type GithubApp, isSameRepository, repositoryAt } from './github-app.ts';
import { GitHubIntegrationError } from './github-error.ts';

/** Gives tenants access to GitHub: lists the repositories to build from, and creates tokens to clone them. */
export type Integrations = ReturnType<typeof createIntegrations>;

/** How long responses of GitHub are cached (ms). */
const cacheMs = 60_000;

/** Creates integrations of an App. The store caches GitHub's responses, so that a restart needs few requests. */
export function createIntegrations(app: GithubApp, store: ControlStore, clock: Clock) {
  const requests = new Map<string, { at: number; answer: Promise<void> }>();

  /** Calls GitHub unless the last response is fresh; concurrent callers share one request. */
  function callUnlessFresh(what: string, ask: () => Promise<void>): Promise<void> {
    const current = requests.get(what);
    if (current && steadyNow(clock) - current.at < cacheMs) return current.answer;
    const answer = ask().catch((error: unknown) => {
      // Failures are not cached.
      if (requests.get(what)?.answer === answer) requests.delete(what);
      throw error;
    });
    requests.set(what, { at: steadyNow(clock), answer });
    return answer;
  }

  const putInstallations = () =>
    callUnlessFresh('installations', async () => store.putInstallations(await app.installations()));

  const putRepositories = ({ id, installation_id }: IntegrationRecord) =>
    callUnlessFresh(`repositories of ${id}`, async () =>
      store.putRepositories(id, await app.repositories(Number(installation_id))),
    );

  return {
    /** A tenant's integrations, at most a minute old. @throws GitHubIntegrationError if GitHub can't be reached. */
    async list(tenantId: string): Promise<IntegrationRecord[]> {
      await putInstallations();
      return store.listIntegrations(tenantId);
    },

    async repositories(integration: IntegrationRecord): Promise<RepositoryRecord[]> {
      await putRepositories(integration);
      return store.listRepositories(integration.id);
    },

    /** The branches of a repository; undefined if the integration does not reach it. */
    branches: ({ installation_id }: IntegrationRecord, repository: { owner: string; name: string }) =>
      app.branches(Number(installation_id), repository),

    /** Why this integration can't clone this repository; undefined where no reason is known. */
    async problem(integration: IntegrationRecord, repoUrl: string): Promise<string | undefined> {
      const repositoryName = repositoryAt(app.origin, repoUrl);
      if (!repositoryName) return otherHostMessage(app.origin);
      try {
        await putRepositories(integration);
      } catch (error) {
        // The clone will report the problem.
        if (error instanceof GitHubIntegrationError) return undefined;
        throw error;
      }
      const accessible = await store.listRepositories(integration.id);
      return accessible.some((repository) => isSameRepository(repository, repositoryName))
        ? undefined
        : notAccessibleMessage(integration, repoUrl);
    },

    /** Creates a token that can only read this one repository, a secret; or returns the reason, for people. */
    async cloneToken(
      tenantId: string,
      integrationId: string,
      repoUrl: string,
    ): Promise<{ ok: true; value: string } | { ok: false; reason: string }> {
      try {
        await putInstallations();
        const integration = await store.findIntegration(tenantId, integrationId);
        if (!integration) return { ok: false, reason: goneMessage };
        const named = repositoryAt(app.origin, repoUrl);
        if (!named) return { ok: false, reason: otherHostMessage(app.origin) };
        const created = await app.cloneToken(Number(integration.installation_id), named);
        return created.kind === 'token'
          ? { ok: true, value: created.token }
          : { ok: false, reason: notAccessibleMessage(integration, repoUrl) };
      } catch (error) {
        if (!(error instanceof GitHubIntegrationError)) throw error;
        return { ok: false, reason: `The repository could not be cloned: ${error.message}` };
      }
    },

    /** Revokes a token after its use. Ignores failures: the token expires within the hour. */
    async endToken(token: string): Promise<void> {
      try {
        await app.endToken(token);
      } catch (error) {
        if (!(error instanceof GitHubIntegrationError)) throw error;
      }
    },
  };
}

const otherHostMessage = (origin: string): string =>
  `source_config.repo_url is no repository of ${origin}, where the GitHub App of this service is: leave source_config.integration_id out, or name a repository as in ${origin}/owner/name.`;

const notAccessibleMessage = ({ name }: IntegrationRecord, repoUrl: string): string =>
  `source_config.integration_id: the installation of ${name} does not hold ${repoUrl}. Let the App reach that repository (on GitHub: Settings, Applications, Configure), or choose another integration.`;

const goneMessage =
  'source_config.integration_id: this integration is not there any more: its installation was removed or suspended, or taken from this tenant. Install the App again, or make a deployment with another integration.';
