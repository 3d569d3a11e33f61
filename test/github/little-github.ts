import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** A request as received. */
export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

/** An answer. `drop` closes the connection instead. */
export interface Answered {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  drop?: boolean;
}

type Row = Record<string, unknown> & { id: number };

/**
 * As much of GitHub as a check run, a deployment and a comment need, on a loopback port, with lists in pages. `before`
 * answers in its stead; `after` changes an answer once it took effect.
 */
export class LittleGitHub {
  readonly requests: ReceivedRequest[] = [];
  readonly checks: Row[] = [];
  readonly deployments: Row[] = [];
  readonly statuses: Row[] = [];
  readonly comments: Row[] = [];
  /** Pull requests by number. */
  readonly pulls = new Map<number, unknown>();
  /** People by their logins: what they may do, and their ids. */
  readonly people = new Map<string, { permission: string; id: number }>();
  /** Files by `REF:PATH`, without a ref those of the default branch. */
  readonly files = new Map<string, string>();
  /** Reactions as `COMMENT CONTENT`, each once. */
  readonly reactions = new Set<string>();
  /** Commits by `heads/BRANCH`. */
  readonly heads = new Map<string, string>();
  before: (requests: ReceivedRequest) => Answered | undefined = () => undefined;
  after: (requests: ReceivedRequest, answered: Answered) => Answered = (_, answered) => answered;
  login: string | undefined;
  #id = 100;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Requests as `METHOD path`, for counting. */
  get lines(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  nextId(): number {
    this.#id += 1;
    return this.#id;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url ?? '/', 'http://github.test');
    const body: unknown = text ? JSON.parse(text) : {};
    const requests: ReceivedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      body: isRecord(body) ? body : {},
    };
    this.requests.push(requests);
    const answered = this.before(requests) ?? this.after(requests, this.#answer(requests));
    if (answered.drop) {
      response.destroy();
      return;
    }
    response.writeHead(answered.status, { 'content-type': 'application/json; charset=utf-8', ...answered.headers });
    response.end(answered.body === undefined ? '' : JSON.stringify(answered.body));
  }

  #answer({ method, path, query, body }: ReceivedRequest): Answered {
    const page = <Each>(rows: readonly Each[]): Each[] => {
      const size = Number(query.get('per_page') ?? 30);
      const number = Number(query.get('page') ?? 1);
      return rows.slice((number - 1) * size, number * size);
    };
    const made = (rows: Row[], row: Record<string, unknown>): Answered => {
      const stored = { ...row, id: this.nextId() };
      rows.push(stored);
      return { status: 201, body: stored };
    };
    const [, what = '', id] =
      /^\/repos\/acme\/agents\/([^/]+(?:\/[a-f0-9]+\/check-runs|\/\d+\/comments|\/\d+\/statuses|\/comments)?)(?:\/(\d+))?$/.exec(
        path,
      ) ?? [];
    const kind = what.replace(/\/[a-f0-9]{40}\//, '/SHA/').replace(/\/\d+\//, '/N/');
    switch (`${method} ${kind}${id ? '/ID' : ''}`) {
      case 'GET issues/comments/ID': {
        const found = this.comments.find((each) => each.id === Number(id));
        return found ? { status: 200, body: found } : { status: 404, body: { message: 'Not Found' } };
      }
      case 'POST check-runs':
        return made(this.checks, withCount(body, 0));
      case 'GET check-runs/ID':
        return { status: 200, body: this.checks.find((each) => each.id === Number(id)) };
      case 'PATCH check-runs/ID': {
        const at = this.checks.findIndex((each) => each.id === Number(id));
        const before = this.checks[at];
        if (!before) return { status: 404, body: { message: 'Not Found' } };
        const after = { ...before, ...withCount(body, countOf(before)), id: before.id };
        this.checks[at] = after;
        return { status: 200, body: after };
      }
      case 'GET commits/SHA/check-runs': {
        const sha = path.split('/')[5];
        const fit = this.checks.filter(
          (each) => each['head_sha'] === sha && each['name'] === (query.get('check_name') ?? each['name']),
        );
        return { status: 200, body: { total_count: fit.length, check_runs: page(fit) } };
      }
      case 'POST deployments':
        return made(this.deployments, { ...body, sha: body['ref'] });
      case 'GET deployments':
        return { status: 200, body: page(this.deployments.filter(fits(query)).toReversed()) };
      case 'POST deployments/N/statuses':
        return made(this.statuses, { ...body, deployment: deploymentOf(path) });
      case 'GET deployments/N/statuses': {
        const own = this.statuses.filter((each) => each['deployment'] === deploymentOf(path));
        return { status: 200, body: page(own.toReversed()) };
      }
      case 'GET pulls/ID':
        return this.pulls.has(Number(id))
          ? { status: 200, body: this.pulls.get(Number(id)) }
          : { status: 404, body: { message: 'Not Found' } };
      case 'GET issues/N/comments':
        return { status: 200, body: page(this.comments) };
      case 'POST issues/N/comments':
        return made(this.comments, { ...body, user: { login: 'landfall[bot]', type: 'Bot' } });
      case 'PATCH issues/comments/ID': {
        const at = this.comments.findIndex((each) => each.id === Number(id));
        if (at === -1) return { status: 404, body: { message: 'Not Found' } };
        this.comments[at] = { ...this.comments[at], ...body, id: Number(id) };
        return { status: 200, body: this.comments[at] };
      }
      default: {
        const reacted = /\/issues\/comments\/(\d+)\/reactions$/.exec(path)?.[1];
        if (reacted) {
          this.reactions.add(`${reacted} ${String(body['content'])}`);
          return { status: 201, body: {} };
        }
        const login = /\/collaborators\/([^/]+)\/permission$/.exec(path)?.[1] ?? '';
        const person = this.people.get(decodeURIComponent(login));
        if (person) return { status: 200, body: { permission: person.permission, user: { login, id: person.id } } };
        const file = /\/contents\/(.+)$/.exec(path)?.[1];
        const text = file && this.files.get(`${query.get('ref') ?? ''}:${decodeURIComponent(file)}`);
        if (text !== undefined && text !== '')
          return {
            status: 200,
            body: { type: 'file', encoding: 'base64', content: Buffer.from(text).toString('base64') },
          };
        const ref = /^\/repos\/acme\/agents\/commits\/([^/]+)$/.exec(path)?.[1];
        const sha = ref && this.heads.get(decodeURIComponent(ref));
        if (sha) return { status: 200, body: { sha } };
        if (path === '/user' && this.login) return { status: 200, body: { login: this.login } };
        return { status: path === '/user' ? 403 : 404, body: { message: 'Not Found' } };
      }
    }
  }
}

const fits = (query: URLSearchParams) => (row: Row) =>
  ['sha', 'environment'].every((name) => !query.has(name) || row[name] === query.get(name));

const deploymentOf = (path: string): number => Number(/deployments\/(\d+)\//.exec(path)?.[1]);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function countOf(row: Record<string, unknown>): number {
  const output = row['output'];
  return isRecord(output) && typeof output['annotations_count'] === 'number' ? output['annotations_count'] : 0;
}

function withCount(body: Record<string, unknown>, before: number): Record<string, unknown> {
  const output = isRecord(body['output']) ? body['output'] : {};
  const sent = Array.isArray(output['annotations']) ? output['annotations'].length : 0;
  return { ...body, output: { ...output, annotations_count: before + sent } };
}
