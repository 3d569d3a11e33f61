import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { isObject } from '../src/kit/json-object.ts';

/** The secret that webhooks are signed with here. */
export const webhookSecret = 'a-secret-of-the-bench-0123456789';

/** Where webhooks go: the path that Probot's own middleware takes, and the App too. */
export const webhookPath = '/api/github/webhooks';

/** A push as GitHub sends it to an installation: the example of GitHub's own payloads that has 6.6 KB. */
export function pushPayload(): string {
  const all: unknown = createRequire(import.meta.url)('@octokit/webhooks-examples');
  const events = (Array.isArray(all) ? all : []).filter(isObject);
  const pushes = events.find((event) => event['name'] === 'push')?.['examples'];
  const text = (Array.isArray(pushes) ? pushes : [])
    .filter((push) => isObject(push) && 'installation' in push)
    .map((push) => JSON.stringify(push))
    .find(({ length }) => length > 6_000 && length < 7_000);
  if (text === undefined) throw new Error('the examples of payloads have no push of some 6.6 KB');
  return text;
}

/** The signature that GitHub gives a body. */
export const signatureOf = (body: string | Buffer): string =>
  `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`;

/** Makes requests of one webhook, each a delivery of its own: bytes that are written to a connection as they are. */
export function webhookRequests(host: string, body: string): () => Buffer {
  const bytes = Buffer.from(body);
  const guid = randomUUID();
  const head = [
    `POST ${webhookPath} HTTP/1.1`,
    `host: ${host}`,
    'accept: */*',
    'user-agent: GitHub-Hookshot/bench',
    'content-type: application/json',
    `content-length: ${bytes.length}`,
    'x-github-event: push',
    'x-github-hook-id: 1',
    `x-hub-signature-256: ${signatureOf(bytes)}`,
    `x-github-delivery: ${guid}`,
    '\r\n',
  ].join('\r\n');
  const request = Buffer.concat([Buffer.from(head), bytes]);
  const at = request.indexOf(guid);
  return () => {
    const made = Buffer.from(request);
    made.write(randomUUID(), at, 'latin1');
    return made;
  };
}
