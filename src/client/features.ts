import type { CallOptions } from '../contract/call-options.ts';
import { controlInfo } from '../contract/control/idempotency-key.ts';
import type { ControlFeatures } from '../contract/control/service.ts';
import { ServiceError } from '../contract/service-error.ts';
import { fromJson } from '../kit/json-text.ts';
import { call } from './call.ts';
import type { Connection } from './connection.ts';
import type { Reader } from './response-readers.ts';

/** How long features are cached (ms): the service may be upgraded or downgraded. */
const cacheMs = 5 * 60_000;

const noFeatures: ControlFeatures = { idempotencyKeys: false, verdicts: false };

/** Any other response, such as a web page, means that no feature is offered. */
const readFeatures: Reader<ControlFeatures> = ({ body }) => {
  const info = controlInfo.safeParse(fromJson(body.toString('utf8')));
  if (!info.success) return { ok: true, value: noFeatures };
  const {
    idempotency_keys,
    verdicts,
    baselines,
    holds,
    pins_commits,
    copies_builds,
    scales_to_zero,
    console_url: consoleUrl,
  } = info.data;
  const features = { idempotencyKeys: idempotency_keys === true, verdicts: verdicts === true };
  const optionalFeatures = {
    ...(baselines === true ? { baselines } : {}),
    ...(holds === true ? { holds } : {}),
    ...(pins_commits === true ? { pinsCommits: true } : {}),
    ...(copies_builds === true ? { copiesBuilds: true } : {}),
    ...(scales_to_zero === true ? { scalesToZero: true } : {}),
    ...(consoleUrl === undefined ? {} : { consoleUrl }),
  };
  return { ok: true, value: { ...features, ...optionalFeatures } };
};

/** Reads the features of a control service beyond the contract, and caches them. */
export function featuresOf(link: Connection): (options?: CallOptions) => Promise<ControlFeatures> {
  const operation = { name: 'get service info', method: 'GET', path: '/info' } as const;
  let cached: { features: ControlFeatures; until: number } | undefined;
  return async (options) => {
    options?.signal?.throwIfAborted();
    if (cached && link.clock.now() < cached.until) return cached.features;
    const features = await call(link, operation, readFeatures, options).catch((error: unknown) => {
      if (error instanceof ServiceError && hasNoInfo(error)) return noFeatures;
      throw error;
    });
    cached = { features, until: link.clock.now() + cacheMs };
    return features;
  };
}

/** Whether the service permanently has no `/info`: a missing endpoint, a redirect, a refusal. */
function hasNoInfo({ kind, status = 0 }: ServiceError): boolean {
  return kind === 'missing' || (kind !== 'busy' && status >= 300 && status < 500 && status !== 408 && status !== 425);
}
