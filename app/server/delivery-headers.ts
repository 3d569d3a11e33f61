import type { IncomingHttpHeaders } from 'node:http';
import { isUuid } from '../../src/contract/uuid.ts';
import type { Refusal } from './refusal.ts';

/** GitHub's own limit for payloads (bytes). */
export const longestPayload = 25 * 1024 * 1024;

/** The fields in a delivery's headers. */
export interface DeliveryHeaders {
  /** The GUID, in lower case. */
  id: string;
  event: string;
  /** `sha256=` and 64 hexadecimal digits. */
  signature: string;
}

export type JudgedHeaders = { ok: true; headers: DeliveryHeaders } | { ok: false; refusal: Refusal };

const json = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const eventName = /^[a-z][a-z0-9_]{0,63}$/;
const signed = /^sha256=[0-9a-f]{64}$/;

/** Judges a webhook by its headers alone, so that most of what is not GitHub's is refused before its body is read. */
export function judgeHeaders(headers: IncomingHttpHeaders): JudgedHeaders {
  const refuse = (status: number, problem: string): JudgedHeaders => ({ ok: false, refusal: { status, problem } });
  const text = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  const encoding = text('content-encoding');
  const type = text('content-type');
  if (type !== 'application/json' && !json.test(type))
    return refuse(415, "The webhook's content type has to be application/json.");
  if (encoding !== '' && encoding !== 'identity') return refuse(415, 'The webhook has to come without an encoding.');
  if (Number(text('content-length')) > longestPayload) return tooLong;
  const event = text('x-github-event');
  if (!eventName.test(event)) return refuse(400, 'X-GitHub-Event is missing or no name of an event.');
  const id = text('x-github-delivery').toLowerCase();
  if (!isUuid(id)) return refuse(400, 'X-GitHub-Delivery is missing or no GUID.');
  const signature = text('x-hub-signature-256');
  if (signature === '') return refuse(401, 'X-Hub-Signature-256 is missing: the webhook needs a secret.');
  if (!signed.test(signature)) return refuse(401, 'X-Hub-Signature-256 is no SHA-256 signature.');
  return { ok: true, headers: { id, event, signature } };
}

/** The refusal of what is longer than GitHub sends. */
export const tooLongRefusal: Refusal = { status: 413, problem: 'The webhook is longer than 25 MB.' };
const tooLong: JudgedHeaders = { ok: false, refusal: tooLongRefusal };
