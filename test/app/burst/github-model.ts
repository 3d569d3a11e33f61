// A minimal GitHub over HTTP with the endpoints that the App uses, for many small repositories, without git or rules.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isObject } from '../../../src/kit/json-object.ts';
import { newPrivateKey } from '../settings/keys.ts';

/** A repository with one branch, whose history is a line; each is reached by an installation of its own. */
export interface ModelRepository {
  id: number;
  installationId: number;
  owner: string;
  name: string;
  /** Oldest first. */
  commits: { sha: string; message: string; at: number }[];
}

/** A check run as it stands. */
export interface ModelCheck {
  id: number;
  repositoryId: number;
  sha: string;
  name: string;
  externalId: string;
  status: string;
  conclusion: string | undefined;
}

/** A webhook that is ready to be sent: signed, with a GUID of its own. */
export interface ModelWebhook {
  guid: string;
  headers: Record<string, string>;
  body: string;
}

/** GitHub as the App meets it in a burst. */
export interface ModelGitHub {
  url: string;
  privateKey: string;
  webhookSecret: string;
  /** Makes a repository; `sha` is that of its first commit, if it is a real one. */
  repository(owner: string, name: string, sha?: string): ModelRepository;
  /** Moves the head to a new commit (a real commit's id if given), and returns the push webhook. */
  push(to: ModelRepository, sha?: string): ModelWebhook;
  checks(): readonly ModelCheck[];
  /** How often each operation was requested. */
  requests: Map<string, number>;
  close(): Promise<void>;
}

interface GitHubRequest {
  repository: ModelRepository;
  rest: string;
  query: URLSearchParams;
  body: Readonly<Record<string, unknown>>;
}
type Answer = { status: number; body: unknown };
type Operation = readonly [method: string, path: RegExp, answer: (call: GitHubRequest, found: string[]) => Answer];

const ok = (body: unknown): Answer => ({ status: 200, body });
const made = (body: unknown): Answer => ({ status: 201, body });
const missing: Answer = { status: 404, body: { message: 'Not Found' } };
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The newest commit. */
export function headOf({ commits }: ModelRepository): string {
  const head = commits.at(-1);
  if (!head) throw new Error('a repository without commits has no head');
  return head.sha;
}

/** Starts it on a free port of loopback. */
export async function startModelGitHub(): Promise<ModelGitHub> {
  const webhookSecret = randomUUID();
  const repositories: ModelRepository[] = [];
  const byName = new Map<string, ModelRepository>();
  const checks = new Map<number, ModelCheck>();
  const checksAt = new Map<string, ModelCheck[]>();
  const deployments = new Map<string, { id: number; payload: unknown }[]>();
  const requests = new Map<string, number>();
  let ids = 1_000;

  function writeCheck(check: ModelCheck, { status, conclusion }: GitHubRequest['body']): Answer['body'] {
    check.status = text(status) || check.status;
    check.conclusion = text(conclusion) || undefined;
    return shown(check);
  }

  const operations: readonly Operation[] = [
    ['GET', /^$/, ({ repository }) => ok({ id: repository.id, default_branch: 'main' })],
    ['GET', /^\/contents\//, () => missing],
    [
      'GET',
      /^\/branches\/main$/,
      ({ repository }) => {
        const { message, at, sha } = repository.commits.at(-1) ?? { message: '', at: 0, sha: '' };
        const committer = { date: new Date(at).toISOString() };
        return ok({ name: 'main', commit: { sha, commit: { message, committer, author: committer } } });
      },
    ],
    [
      'GET',
      /^\/compare\/(\w+)\.\.\.(\w+)$/,
      ({ repository: { commits } }, [base, head]) => {
        const [from, to] = [base, head].map((each) => commits.findIndex(({ sha }) => sha === each));
        if (from === undefined || to === undefined || from < 0 || to < 0) return missing;
        const status = from === to ? 'identical' : from < to ? 'ahead' : 'behind';
        return ok({ status, files: status === 'ahead' ? [{ filename: 'src/graph.ts' }] : [] });
      },
    ],
    [
      'GET',
      /^\/commits\/(\w+)\/check-runs$/,
      ({ repository, query }, [sha = '']) => {
        const named = (checksAt.get(`${repository.id} ${sha}`) ?? []).filter(
          ({ name }) => name === query.get('check_name'),
        );
        return ok({ total_count: named.length, check_runs: named.map(shown) });
      },
    ],
    [
      'POST',
      /^\/check-runs$/,
      ({ repository, body }) => {
        const sha = text(body['head_sha']);
        const check: ModelCheck = {
          id: (ids += 1),
          repositoryId: repository.id,
          sha,
          name: text(body['name']),
          externalId: text(body['external_id']),
          status: 'queued',
          conclusion: undefined,
        };
        checks.set(check.id, check);
        const key = `${repository.id} ${sha}`;
        checksAt.set(key, [...(checksAt.get(key) ?? []), check]);
        return made(writeCheck(check, body));
      },
    ],
    [
      'PATCH',
      /^\/check-runs\/(\d+)$/,
      ({ body }, [id]) => {
        const check = checks.get(Number(id));
        return check ? ok(writeCheck(check, body)) : missing;
      },
    ],
    [
      'GET',
      /^\/deployments$/,
      ({ repository, query }) => ok(deployments.get(`${repository.id} ${query.get('sha') ?? ''}`) ?? []),
    ],
    [
      'POST',
      /^\/deployments$/,
      ({ repository, body }) => {
        const deployment = { id: (ids += 1), payload: body['payload'] };
        const key = `${repository.id} ${text(body['ref'])}`;
        deployments.set(key, [...(deployments.get(key) ?? []), deployment]);
        return made(deployment);
      },
    ],
    ['POST', /^\/deployments\/\d+\/statuses$/, () => made({ id: (ids += 1) })],
  ];

  const ofRepository = (method: string, url: URL, body: GitHubRequest['body']): Answer => {
    const [, owner = '', name = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
    const repository = byName.get(`${owner}/${name}`);
    if (!repository) return missing;
    for (const [wanted, path, answer] of operations) {
      const found = wanted === method ? path.exec(rest) : null;
      if (!found) continue;
      count(`${method} ${rest.replaceAll(/[0-9a-f]{40}|\d+/g, '*')}`);
      return answer({ repository, rest, query: url.searchParams, body }, found.slice(1));
    }
    return missing;
  };

  function count(operation: string): void {
    requests.set(operation, (requests.get(operation) ?? 0) + 1);
  }

  /** Requests as the App, and for an installation as a whole. */
  const ofApp = (method: string, { pathname }: URL, authorization: string): Answer => {
    const token = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(pathname)?.[1];
    if (token !== undefined) {
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      return made({ token: `ghs_${token}`, expires_at: expires, permissions: {}, repository_selection: 'all' });
    }
    if (pathname === '/app') return ok({ id: 1, slug: 'landfall', name: 'Landfall' });
    if (pathname === '/app/hook/deliveries') return ok([]);
    if (pathname === '/app/installations') {
      return ok(repositories.map(({ installationId }) => ({ id: installationId, suspended_at: null })).slice(0, 100));
    }
    if (pathname === '/installation/repositories') {
      const reached = repositories.filter(({ installationId }) => authorization.endsWith(`ghs_${installationId}`));
      return ok({ repositories: reached.map(({ id, owner, name }) => ({ id, name, owner: { login: owner } })) });
    }
    return method === 'GET' ? missing : { status: 405, body: { message: pathname } };
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request;
    const address = new URL(request.url ?? '/', url);
    const body = await bodyOf(request);
    const { status, body: reported } = address.pathname.startsWith('/repos/')
      ? ofRepository(method, address, body)
      : ofApp(method, address, headers.authorization ?? '');
    const bytes = Buffer.from(JSON.stringify(reported));
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length });
    response.end(bytes);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the model of GitHub listens at no port');
  const url = `http://127.0.0.1:${address.port}`;

  const commitOf = (seed: string): string => createHash('sha1').update(seed).digest('hex');
  const commit = (to: ModelRepository, sha?: string): string => {
    const message = `Commit ${to.commits.length}`;
    const made = sha ?? commitOf(`${to.id} ${message}`);
    to.commits.push({ sha: made, message, at: Date.now() });
    return made;
  };

  return {
    url,
    privateKey: newPrivateKey(),
    webhookSecret,
    repository(owner, name, sha) {
      const id = repositories.length + 1;
      const repository: ModelRepository = { id, installationId: 500 + id, owner, name, commits: [] };
      repositories.push(repository);
      byName.set(`${owner}/${name}`, repository);
      commit(repository, sha);
      return repository;
    },
    push(to, sha) {
      const before = headOf(to);
      const after = commit(to, sha);
      const { id, owner, name, installationId } = to;
      const guid = randomUUID();
      const body = JSON.stringify({
        ref: 'refs/heads/main',
        before,
        after,
        created: false,
        deleted: false,
        forced: false,
        repository: { id, name, full_name: `${owner}/${name}`, fork: false, owner: { login: owner } },
        installation: { id: installationId },
        sender: { login: 'mona' },
      });
      const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': guid,
        'x-hub-signature-256': `sha256=${signature}`,
      };
      return { guid, headers, body };
    },
    checks: () => [...checks.values()],
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const shown = ({ id, externalId, name, status, conclusion }: ModelCheck) => ({
  id,
  name,
  external_id: externalId,
  status,
  conclusion: conclusion ?? null,
  output: { annotations_count: 0 },
});

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const sent = Buffer.concat(chunks).toString('utf8');
  const body: unknown = sent === '' ? {} : JSON.parse(sent);
  return isObject(body) ? body : {};
}
