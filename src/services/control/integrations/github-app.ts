import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { toGitHubIntegrationError, GitHubIntegrationError } from './github-error.ts';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';

interface NamedRepository {
  owner: string;
  name: string;
}

/**
 * The base of clone addresses for the address of a GitHub's API: github.com, GitHub Enterprise Server
 * (`https://HOST/api/v3`), GHE.com (`https://api.SUBDOMAIN.ghe.com`). Any other address serves as both.
 */
export function cloneOrigin(apiUrl: string): string {
  const url = new URL(apiUrl);
  if (url.hostname === 'api.github.com') return 'https://github.com';
  const ghe = /^api\.([^.]+\.ghe\.com)$/.exec(url.hostname)?.[1];
  return ghe === undefined ? url.origin : `https://${ghe}`;
}

/** The repository of a `repo_url` on this GitHub; undefined where it is on another host, or no repository. */
export function repositoryAt(origin: string, repoUrl: string): NamedRepository | undefined {
  if (!URL.canParse(repoUrl)) return undefined;
  const url = new URL(repoUrl);
  const [, owner, name, more] = withoutTrailingSlashes(url.pathname).split('/');
  if (url.origin !== origin || !owner || !name || more !== undefined) return undefined;
  const plain = decodeURIComponent(name).replace(/\.git$/, '');
  return plain === '' ? undefined : { owner: decodeURIComponent(owner), name: plain };
}

/** GitHub ignores the case of names. */
export const isSameRepository = (one: NamedRepository, other: NamedRepository): boolean =>
  one.owner.toLowerCase() === other.owner.toLowerCase() && one.name.toLowerCase() === other.name.toLowerCase();

/** The identity of a GitHub App, and its GitHub. */
export interface GithubAppDependencies {
  appId: number;
  /** PEM: a secret. */
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

export interface InstalledRepository extends NamedRepository {
  id: number;
  url: string;
  defaultBranch: string;
}

export interface Branch {
  name: string;
  /** Of its newest commit. */
  sha: string;
}

/** A token for one clone, or why there is none. */
export type CloneToken = { kind: 'token'; token: string } | { kind: 'not-held' };

/** A GitHub App, as its operator, without a cache. Every failure is a `GitHubIntegrationError`. */
export type GithubApp = ReturnType<typeof githubApp>;

const perPage = 100;
const maxBranches = 1_000;

/** Creates the client of the App. Sends no request. */
export function githubApp({ appId, privateKey, apiUrl, clock, answerWithinMs = 15_000 }: GithubAppDependencies) {
  const options = { baseUrl: apiUrl, userAgent: 'landfall-control-service', log: silent };
  const app = new Octokit({ ...options, authStrategy: createAppAuth, auth: { appId, privateKey } });

  const ask = <T>(what: string, send: (request: { signal: AbortSignal }) => Promise<T>): Promise<T> =>
    withTimeout(clock, answerWithinMs, async (signal) => {
      try {
        return await send({ signal });
      } catch (error) {
        throw toGitHubIntegrationError(what, error, { late: signal.aborted, answerWithinMs });
      }
    });

  async function tokenFor(installationId: number, permissions: Record<string, string>, repositories?: string[]) {
    const { data } = await ask(`make a token of installation ${installationId}`, (request) =>
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
      await ask('end a token', (request) => installed.request('DELETE /installation/token', { request }));
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
        const { data } = await ask('list the installations of the App', (request) =>
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
        const { data } = await ask(`list the repositories of installation ${installationId}`, (request) =>
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
    async branches(installationId: number, { owner, name }: NamedRepository): Promise<Branch[] | undefined> {
      const made = await this.cloneToken(installationId, { owner, name });
      if (made.kind === 'not-held') return undefined;
      const installed = new Octokit({ ...options, auth: made.token });
      const found: Branch[] = [];
      try {
        for (let page = 1; page <= maxBranches / perPage; page += 1) {
          const { data } = await ask(`list the branches of ${owner}/${name}`, (request) =>
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
        await endToken(made.token).catch(() => undefined);
      }
    },

    /** A token that reads the contents of this one repository and nothing else; a secret. */
    async cloneToken(installationId: number, repository: NamedRepository): Promise<CloneToken> {
      try {
        const made = await tokenFor(installationId, { contents: 'read' }, [repository.name]);
        // The request has only the name: the response says whose repository it is.
        const held = made.repositories?.some(({ full_name }) => {
          const [owner = '', name = ''] = full_name.split('/');
          return isSameRepository(repository, { owner, name });
        });
        if (held) return { kind: 'token', token: made.token };
        // It expires within the hour, and must not hide that the repository is not held.
        await endToken(made.token).catch(() => undefined);
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
  const named = { login: undefined, name: undefined, ...account };
  return [named.login, named.name].find((name) => typeof name === 'string');
}

/** Discards Octokit's own log output, which has addresses and hints. */
const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
