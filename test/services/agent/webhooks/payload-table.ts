import { expect } from 'vitest';
import { webhookPayloadSchema, type WebhookPayload } from '../../../../src/contract/agent/webhook.ts';
import { ISO, UUID } from '../promises/fixture.ts';
import type { Received } from './receiver.ts';

/** The fields of a webhook that depend on the run. */
export interface Reported {
  /** The thread of the run; undefined if it was temporary. */
  threadId: string | undefined;
  assistantId?: string;
  status: string;
  metadata: Record<string, unknown>;
  input: Record<string, unknown>;
  /** Where the webhook was sent, token included. */
  webhook: string;
  multitaskStrategy: string;
  /** The state of the thread; undefined for a temporary thread. */
  values: Record<string, unknown> | undefined;
  error: { error: string; message: string } | null;
}

/** Checks a webhook against the documented table: every field by its rule, and no other. */
export function expectTable({ method, headers, body }: Received, reported: Reported): WebhookPayload {
  expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
  const payload = webhookPayloadSchema.parse(JSON.parse(body));
  expect(payload).toStrictEqual({
    run_id: expect.stringMatching(UUID),
    thread_id: reported.threadId ?? expect.stringMatching(UUID),
    assistant_id: reported.assistantId ?? expect.stringMatching(UUID),
    status: reported.status,
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
    run_started_at: expect.stringMatching(ISO),
    run_ended_at: expect.stringMatching(ISO),
    webhook_sent_at: expect.stringMatching(ISO),
    metadata: expect.objectContaining(reported.metadata),
    kwargs: expect.objectContaining({ input: reported.input, webhook: reported.webhook, config: expect.any(Object) }),
    ...(reported.values === undefined ? {} : { values: reported.values }),
    multitask_strategy: reported.multitaskStrategy,
    error: reported.error,
  });
  const { created_at, run_started_at, run_ended_at = '', webhook_sent_at } = payload;
  const order = [created_at, run_started_at, run_ended_at, webhook_sent_at].map((time) => Date.parse(time));
  expect(order.toSorted((one, other) => one - other)).toEqual(order);
  return payload;
}
