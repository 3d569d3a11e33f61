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
        return { status: 200, body: page(this.deployments.filter((each) => each['sha'] === query.get('sha'))) };
      case 'POST deployments/N/statuses':
        return made(this.statuses, body);
      case 'GET deployments/N/statuses':
        return { status: 200, body: page(this.statuses.toReversed()) };
      case 'GET issues/N/comments':
        return { status: 200, body: page(this.comments) };
      case 'POST issues/N/comments':
        return made(this.comments, { ...body, user: { login: 'landfall[bot]', type: 'Bot' } });
      case 'PATCH issues/comments/ID': {
        const at = this.comments.findIndex((each) => each.id === Number(id));
        this.comments[at] = { ...this.comments[at], ...body, id: Number(id) };
        return { status: 200, body: this.comments[at] };
      }
      default:
        if (path === '/user' && this.login) return { status: 200, body: { login: this.login } };
        return { status: path === '/user' ? 403 : 404, body: { message: 'Not Found' } };
    }
  }
}

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
