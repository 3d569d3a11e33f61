import type { Logger } from '../../src/kit/logger.ts';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/kit/clock.ts';
import { readIndexedFields } from '../inbox/delivery.ts';
import { StorageError, type StoreDelivery } from '../inbox/store-deliveries.ts';
import { unavailable, type Refusal, refuse, byteBudget, readBody } from './http-messages.ts';
import type { Route } from './http-server.ts';
import { isUuid } from '../../src/kit/uuid.ts';
import { isUtf8 } from 'node:buffer';
import type { Webhooks } from '@octokit/webhooks';

export type IntakeResult = 'stored' | 'known' | 'refused' | 'unstored';

type Acknowledged = Extract<IntakeResult, 'stored' | 'known'>;

export interface WebhookOptions {
  verify: VerifySignature;
  store: StoreDelivery;
  clock: Clock;
  /** Receives the reason when storing fails. */
  log: Logger;
  /** Called with the result of each webhook; `event` is undefined without a valid signature. */
  count?: (event: string | undefined, result: IntakeResult) => void;
  /** Memory limit (bytes) of all webhooks in progress; by default 128 MB. */
  maxBufferedBytes?: number;
  /** Called once a new delivery is stored, before it is answered. */
  onStored?: () => void | Promise<void>;
  /** Called when a delivery could not be stored: GitHub does not retry by itself. */
  onUnstored?: () => void;
}

/** Where GitHub may send webhooks: what the set-up page writes, and Probot's usual path. */
export const webhookPaths = ['/', '/api/github/webhooks'] as const;

/** Default limit for the bytes of all webhooks in progress. */
const defaultMaxBufferedBytes = 128 * 1024 * 1024;

/**
 * Receives webhooks: verifies the signature, stores the webhook with its job, and responds 202, also if it is already
 * known. Nothing is parsed before its signature is verified, and nothing is acknowledged before it is stored.
 */
export function webhookRoutes(options: WebhookOptions): Route[] {
  const { verify, store, clock, log, count, onStored, onUnstored } = options;
  const reserve = byteBudget(options.maxBufferedBytes ?? defaultMaxBufferedBytes);

  async function storeVerified(
    { id, event, signature }: DeliveryHeaders,
    bytes: Buffer,
  ): Promise<Acknowledged | Refusal> {
    const payload = await verify(bytes, signature);
    if (payload === undefined) return wrongSignature;
    const indexedFields = readIndexedFields(payload);
    if (indexedFields === undefined) return { status: 400, problem: 'The payload is not a JSON object.' };
    try {
      const result = await store({ id, event, ...indexedFields, payload, receivedAt: clock.now() });
      if (result === 'stored') await onStored?.();
      count?.(event, result);
      return result;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.error(`A webhook could not be stored: ${error.message}. The App requests it from GitHub later.`);
      count?.(event, 'unstored');
      onUnstored?.();
      return unavailable(`The webhook could not be stored: ${error.message}.`);
    }
  }

  async function receive(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Acknowledged | Refusal | undefined> {
    const checked = checkHeaders(request.headers);
    if (!checked.ok) return checked.refusal;
    const reservation = reserve();
    try {
      if (request.headers.expect !== undefined) response.writeContinue();
      const body = await readBody(request, maxPayloadSize, reservation);
      if (body.kind === 'too-long') return payloadTooLarge;
      if (body.kind === 'no-room') return unavailable('Too much is coming in at once.');
      return body.kind === 'broken' ? undefined : await storeVerified(checked.headers, body.bytes);
    } finally {
      reservation.release();
    }
  }

  const handle: Route['handle'] = async ({ request, response }) => {
    const result = await receive(request, response);
    if (result === undefined) return;
    if (typeof result === 'string') {
      response.writeHead(202, acceptedHeaders[result]).end(`${result}\n`);
      return;
    }
    if (result.status !== 503) count?.(undefined, 'refused');
    await refuse(request, response, result, clock);
  };
  return webhookPaths.map((path) => ({ method: 'POST', path, handle }));
}

const plainTextHeaders = (text: string): string[] => [
  'content-type',
  'text/plain',
  'content-length',
  String(text.length + 1),
];

/** Headers of a success, created once. */
const acceptedHeaders: Readonly<Record<'stored' | 'known', string[]>> = {
  stored: plainTextHeaders('stored'),
  known: plainTextHeaders('known'),
};

const wrongSignature: Refusal = {
  status: 401,
  problem: 'Invalid signature. Check that the webhook secret matches the one on GitHub.',
};

/** GitHub's own limit for payloads (bytes). */
const maxPayloadSize = 25 * 1024 * 1024;

/** The fields in a delivery's headers. */
interface DeliveryHeaders {
  /** The GUID, in lower case. */
  id: string;
  event: string;
  /** `sha256=` and 64 hexadecimal digits. */
  signature: string;
}

type CheckedHeaders = { ok: true; headers: DeliveryHeaders } | { ok: false; refusal: Refusal };

const jsonType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const eventName = /^[a-z][a-z0-9_]{0,63}$/;
const signatureFormat = /^sha256=[0-9a-f]{64}$/;

/** Checks the headers of a webhook, so that most foreign requests are refused before their body is read. */
function checkHeaders(headers: IncomingHttpHeaders): CheckedHeaders {
  const refuse = (status: number, problem: string): CheckedHeaders => ({ ok: false, refusal: { status, problem } });
  const text = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  const encoding = text('content-encoding');
  const type = text('content-type');
  if (type !== 'application/json' && !jsonType.test(type))
    return refuse(415, "The webhook's content type has to be application/json.");
  if (encoding !== '' && encoding !== 'identity')
    return refuse(415, 'Webhooks with a content encoding are not supported.');
  if (Number(text('content-length')) > maxPayloadSize) return { ok: false, refusal: payloadTooLarge };
  const event = text('x-github-event');
  if (!eventName.test(event)) return refuse(400, 'X-GitHub-Event is missing or not the name of an event.');
  const id = text('x-github-delivery').toLowerCase();
  if (!isUuid(id)) return refuse(400, 'X-GitHub-Delivery is missing or no GUID.');
  const signature = text('x-hub-signature-256');
  if (signature === '') return refuse(401, 'X-Hub-Signature-256 is missing: the webhook needs a secret.');
  if (!signatureFormat.test(signature)) return refuse(401, 'X-Hub-Signature-256 is not a SHA-256 signature.');
  return { ok: true, headers: { id, event, signature } };
}

/** The refusal of a webhook above GitHub's own limit. */
const payloadTooLarge: Refusal = { status: 413, problem: 'The webhook is longer than 25 MB.' };

/** Returns the text of a body with a valid signature; undefined for any other. */
type VerifySignature = (body: Buffer, signature: string) => Promise<string | undefined>;

/** Verifies a signature over the raw bytes, in constant time, with each secret: there are two during a rotation. */
export function verifySignature(verifiers: readonly Pick<Webhooks, 'verify'>[]): VerifySignature {
  return async (body, signature) => {
    // The hash covers the decoded text, which equals the raw bytes only for valid UTF-8.
    if (body.length === 0 || !isUtf8(body)) return undefined;
    const text = body.toString('utf8');
    for (const verifier of verifiers) if (await verifier.verify(text, signature)) return text;
    return undefined;
  };
}
