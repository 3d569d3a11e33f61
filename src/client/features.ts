import type { CallOptions } from '../contract/call-options.ts';
import { controlInfo } from '../contract/control/idempotency-key.ts';
import type { ControlFeatures } from '../contract/control/service.ts';
import { ServiceError } from '../contract/service-error.ts';
import { call } from './call.ts';
import type { Connection } from './connection.ts';
import { parse, type Reader } from './reading.ts';

/** How long an answer is remembered (ms): a service may be replaced by a newer one, or by an older. */
const rememberedMs = 5 * 60_000;

const none: ControlFeatures = { idempotencyKeys: false };

/** Whatever a service answers here that is not what ours says, a web page too, says that it offers nothing. */
const readFeatures: Reader<ControlFeatures> = ({ body }) => {
  const parsed = parse(body.toString('utf8'));
  const info = controlInfo.safeParse(parsed.ok ? parsed.value : undefined);
  return { ok: true, value: info.success ? { idempotencyKeys: info.data.idempotency_keys === true } : none };
};

/** Asks a control service what it offers beyond control-service.md, and remembers the answer for a while. */
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

/** An answer that says, for good, that there is nothing here to be read: no such endpoint, a redirect, a refusal. */
function hasNoInfo({ kind, status = 0 }: ServiceError): boolean {
  return kind === 'missing' || (kind !== 'busy' && status >= 300 && status < 500 && status !== 408 && status !== 425);
}
