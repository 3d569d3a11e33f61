import { fromJson } from '../contract/json-text.ts';
import type { CallOptions } from '../contract/call-options.ts';
import { controlInfo } from '../contract/control/idempotency-key.ts';
import type { ControlFeatures } from '../contract/control/service.ts';
import { ServiceError } from '../contract/service-error.ts';
import { call } from './call.ts';
import type { Connection } from './connection.ts';
import type { Reader } from './reading.ts';

/** The cache duration (ms): the service may be upgraded or downgraded. */
const rememberedMs = 5 * 60_000;

const none: ControlFeatures = { idempotencyKeys: false };

/** Any other response, such as a web page, means that no feature is offered. */
const readFeatures: Reader<ControlFeatures> = ({ body }) => {
  const info = controlInfo.safeParse(fromJson(body.toString('utf8')));
  return { ok: true, value: info.success ? { idempotencyKeys: info.data.idempotency_keys === true } : none };
};

/** Reads the features of a control service beyond control-service.md, and caches them. */
export function featuresOf(link: Connection): (options?: CallOptions) => Promise<ControlFeatures> {
  let known: { features: ControlFeatures; until: number } | undefined;
  return async (options) => {
    options?.signal?.throwIfAborted();
    if (known && link.clock.now() < known.until) return known.features;
    const features = await requested(link, options);
    known = { features, until: link.clock.now() + rememberedMs };
    return features;
  };
}

async function requested(link: Connection, options: CallOptions | undefined): Promise<ControlFeatures> {
  try {
    return await call(link, { name: 'get service info', method: 'GET', path: '/info' }, readFeatures, options);
  } catch (error) {
    if (error instanceof ServiceError && hasNoInfo(error)) return none;
    throw error;
  }
}

/** Whether the service permanently has no `/info`: a missing endpoint, a redirect, a refusal. */
function hasNoInfo({ kind, status = 0 }: ServiceError): boolean {
  return kind === 'missing' || (kind !== 'busy' && status >= 300 && status < 500 && status !== 408 && status !== 425);
}
