import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { toGitHubIntegrationError, GitHubIntegrationError } from './github-error.ts';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';

interface RepositoryName {
  owner: string;
  name: string;
}

/**
 * The base of clone addresses for the API address of github.com, a GitHub Enterprise Server (`https://HOST/api/v3`) or
 * GHE.com (`https://api.SUBDOMAIN.ghe.com`). For any other API address, its own origin.
 */
export function cloneOrigin(apiUrl: string): string {
  const url = new URL(apiUrl);
  if (url.hostname === 'api.github.com') return 'https://github.com';
  const ghe = /^api\.([^.]+\.ghe\.com)$/.exec(url.hostname)?.[1];
  return ghe === undefined ? url.origin : `https://${ghe}`;
}

/** The repository of a `repo_url` on this GitHub; undefined for another host, or an address that is not a repository. */
export function repositoryAt(origin: string, repoUrl: string): RepositoryName | undefined {
  if (!URL.canParse(repoUrl)) return undefined;
  const url = new URL(repoUrl);
  const [, owner, name, more] = withoutTrailingSlashes(url.pathname).split('/');
  if (url.origin !== origin || !owner || !name || more !== undefined) return undefined;
  const repositoryName = decodeURIComponent(name).replace(/\.git$/, '');
  return repositoryName === '' ? undefined : { owner: decodeURIComponent(owner), name: repositoryName };
}

/** Whether two names mean one repository: GitHub ignores their case. */
export const isSameRepository = (one: RepositoryName, other: RepositoryName): boolean =>
  one.owner.toLowerCase() === other.owner.toLowerCase() && one.name.toLowerCase() === other.name.toLowerCase();

/** The identity of a GitHub App, and the GitHub that it is on. */
export interface GithubAppDependencies {
  appId: number;
  /** The private key as PEM: a secret. */
  privateKey: string;
  /** `https://api.github.com`, or the API of another GitHub; without a trailing slash. */
  apiUrl: string;
  clock: Clock;
  /** The timeout of a request in milliseconds; 15 s when absent. */
  answerWithinMs?: number;
}

export interface Installation {
  id: number;
  /** The login of its user or organization. */
  account: string;
  isSuspended: boolean;
}

export interface InstalledRepository extends RepositoryName {
  id: number;
  url: string;
  defaultBranch: string;
}

export interface Branch {
  name: string;
  /** The id of its newest commit. */
  sha: string;
}

/** A token for one clone; `not-held`: the installation has no access to the repository. */
export type CloneToken = { kind: 'token'; token: string } | { kind: 'not-held' };

/** A client of GitHub that authenticates as the App. Caches nothing. Every failure is a `GitHubIntegrationError`. */
export type GithubApp = ReturnType<typeof githubApp>;

const perPage = 100;
const maxBranches = 1_000;

/** Creates the client of the App. Sends no request. */
export function githubApp({ appId, privateKey, apiUrl, clock, answerWithinMs = 15_000 }: GithubAppDependencies) {
  const options = { baseUrl: apiUrl, userAgent: 'landfall-control-service', log: silentLog };
  const app = new Octokit({ ...options, authStrategy: createAppAuth, auth: { appId, privateKey } });

  const callGitHub = <T>(what: string, send: (request: { signal: AbortSignal }) => Promise<T>): Promise<T> =>
    withTimeout(clock, answerWithinMs, async (signal) => {
      try {
        return await send({ signal });
      } catch (error) {
        throw toGitHubIntegrationError(what, error, { late: signal.aborted, answerWithinMs });
      }
    });

  async function tokenFor(installationId: number, permissions: Record<string, string>, repositories?: string[]) {
    const { data } = await callGitHub(`make a token of installation ${installationId}`, (request) =>
      app.request('POST /app/installations/{installation_id}/access_tokens', {
        installation_id: installationId,
        permissions,
        ...(repositories ? { repositories } : {}),
        request,
      }),
    );
    return data;
  }

  /** Revokes a token; ignores one that has expired. */
  async function endToken(token: string): Promise<void> {
    const installed = new Octokit({ ...options, auth: token });
    try {
      await callGitHub('end a token', (request) => installed.request('DELETE /installation/token', { request }));
    } catch (error) {
      if (!(error instanceof GitHubIntegrationError) || error.status !== 401) throw error;
    }
  }

  return {
    /** The base of clone addresses: `https://github.com`. */
    origin: cloneOrigin(apiUrl),

    async installations(): Promise<Installation[]> {
      const found: Installation[] = [];
      for (let page = 1; ; page += 1) {
        const { data } = await callGitHub('list the installations of the App', (request) =>
          app.request('GET /app/installations', { per_page: perPage, page, request }),
        );
        for (const { id, account, suspended_at } of data) {
          found.push({ id, account: accountName(account) ?? String(id), isSuspended: Boolean(suspended_at) });
        }
        if (data.length < perPage) return found;
      }
    },

    async repositories(installationId: number): Promise<InstalledRepository[]> {
      const { token } = await tokenFor(installationId, { metadata: 'read' });
      const installed = new Octokit({ ...options, auth: token });
      const found: InstalledRepository[] = [];
      for (let page = 1; ; page += 1) {
        const { data } = await callGitHub(`list the repositories of installation ${installationId}`, (request) =>
          installed.request('GET /installation/repositories', { per_page: perPage, page, request }),
        );
        for (const { id, name, owner, default_branch } of data.repositories) {
          const url = `${cloneOrigin(apiUrl)}/${owner.login}/${name}`;
          found.push({ id: Number(id), owner: owner.login, name, url, defaultBranch: default_branch });
        }
        if (data.repositories.length < perPage) return found;
      }
    },

    /** The branches of a repository, at most 1,000; undefined if the installation does not reach it. */
    async branches(installationId: number, { owner, name }: RepositoryName): Promise<Branch[] | undefined> {
      const cloneToken = await this.cloneToken(installationId, { owner, name });
      if (cloneToken.kind === 'not-held') return undefined;
      const installed = new Octokit({ ...options, auth: cloneToken.token });
      const found: Branch[] = [];
      try {
        for (let page = 1; page <= maxBranches / perPage; page += 1) {
          const { data } = await callGitHub(`list the branches of ${owner}/${name}`, (request) =>
            installed.request('GET /repos/{owner}/{repo}/branches', {
              owner,
              repo: name,
              per_page: perPage,
              page,
              request,
            }),
          );
          for (const branch of data) found.push({ name: branch.name, sha: branch.commit.sha });
          if (data.length < perPage) break;
        }
        return found;
      } finally {
        // It expires within the hour.
        await endToken(cloneToken.token).catch(() => undefined);
      }
    },

    /** Creates a token that can only read the contents of this one repository; a secret. */
    async cloneToken(installationId: number, repository: RepositoryName): Promise<CloneToken> {
      try {
        const created = await tokenFor(installationId, { contents: 'read' }, [repository.name]);
        // The request has only the name, so check the owner in the response.
        const isAccessible = created.repositories?.some(({ full_name }) => {
          const [owner = '', name = ''] = full_name.split('/');
          return isSameRepository(repository, { owner, name });
        });
        if (isAccessible) return { kind: 'token', token: created.token };
        // Ignore a failure: the token expires within the hour.
        await endToken(created.token).catch(() => undefined);
        return { kind: 'not-held' };
      } catch (error) {
        if (error instanceof GitHubIntegrationError && error.status === 422) return { kind: 'not-held' };
        throw error;
      }
    },

    endToken,
  };
}

/** The name of an account: a user or an organization by its login, an enterprise by its name. */
function accountName(account: object | null): string | undefined {
  const fields = { login: undefined, name: undefined, ...account };
  return [fields.login, fields.name].find((name) => typeof name === 'string');
}

/** Discards Octokit's own log output, which has addresses and hints. */
const nothing = (): void => undefined;
const silentLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };
