import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { SmokeTest } from '../config/smoke-test.ts';
import { canonicalJson } from '../contract/canonical-json.ts';
import type { ControlService } from '../contract/control/service.ts';
import { ServiceError } from '../contract/service-error.ts';
import { samplesOf, toBaselineRequest } from '../planning/baseline.ts';
import type { Sample } from '../planning/verdict-types.ts';

/** How long the service may take with the baseline of one test (ms). */
const baselineMs = 15_000;

/** The revision whose answers are kept, and the dependencies. */
export interface BaselineContext {
  deploymentId: string;
  revisionId: string;
  control: Pick<ControlService, 'features' | 'getBaseline' | 'keepBaseline'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** Removes secrets from names. */
  redact: (text: string) => string;
  /** Called where the service keeps baselines, and one could not be read or written; unless the signal aborts. */
  missed: (error: unknown) => void;
}

/** The answers of a test that were kept with a revision. */
export interface KeptBaseline {
  samples: readonly Sample[];
  takenAt: string;
}

/**
 * Identifies a test by what it sends and expects, in hexadecimal digits: another name, another number of tries or
 * another pass rate leaves its answers comparable; another time limit and other prices do not.
 */
export function hashOfTest(test: SmokeTest): string {
  const { name: _, attempts: __, series: ___, ...sentAndExpected } = test;
  return createHash('sha256').update(canonicalJson(sentAndExpected)).digest('hex');
}

/** What the service keeps of a test on the revision; undefined where there is nothing. Never rejects. */
export async function readBaseline(test: SmokeTest, context: BaselineContext): Promise<KeptBaseline | undefined> {
  const { control, deploymentId, revisionId } = context;
  return whereKept(context, async (options) => {
    const kept = await control
      .getBaseline(deploymentId, revisionId, hashOfTest(test), options)
      .catch(undefinedIfMissing);
    const samples = kept && samplesOf(kept);
    return kept && samples ? { samples, takenAt: kept.taken_at } : undefined;
  });
}

/** Keeps the answers of a test with the revision that gave them. Never rejects: it only saves a later measurement. */
export async function keepBaseline(
  test: SmokeTest,
  samples: readonly Sample[],
  context: BaselineContext,
): Promise<void> {
  const { control, deploymentId, revisionId, redact } = context;
  const request = toBaselineRequest(samples, redact);
  if (!request) return;
  await whereKept(context, (options) =>
    control.keepBaseline(deploymentId, revisionId, hashOfTest(test), request, options),
  );
}

async function whereKept<T>(
  { control, clock, signal, missed }: BaselineContext,
  work: (options: { signal: AbortSignal | undefined; deadline: number }) => Promise<T>,
): Promise<T | undefined> {
  const options = { signal, deadline: clock.now() + baselineMs };
  try {
    if ((await control.features(options)).baselines !== true) return undefined;
    return await work(options);
  } catch (error) {
    if (!signal?.aborted) missed(error);
    return undefined;
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof ServiceError && error.kind === 'missing') return undefined;
  throw error;
}
