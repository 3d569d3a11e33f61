import { createHash } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import { canonicalJson } from '../../kit/json-object.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { messageOf } from '../../kit/errors.ts';
import { ServiceError } from '../../contract/service-error.ts';
import {
  baselineRequest,
  maxPathLength,
  maxBaselineAnswers,
  type BaselineRequest,
  type StoredBaseline,
} from '../../contract/control/baseline.ts';
import { shownInstead } from '../../contract/masking/mask.ts';
import type { Redact } from '../words/format-expectation.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import type { Sample } from '../rules/verdict-types.ts';

/** How long the service may take with the baselines of all tests (ms). */
const baselinesMs = 15_000;

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

/** The same of a deploy run. */
export const baselineContext = (
  { deploymentId, revisionId }: Pick<BaselineContext, 'deploymentId' | 'revisionId'>,
  run: DeployRun,
): BaselineContext => ({
  deploymentId,
  revisionId,
  control: run.request.control,
  clock: run.request.clock,
  signal: run.request.signal,
  redact: (text) => run.redact(text),
  missed: (error) => run.note({ code: 'answers-unkept', text: messageOf(error) }),
});

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

/** What the service keeps of these tests on the revision, by test; less where it can't be reached. Never rejects. */
export async function readBaselines(
  tests: readonly SmokeTest[],
  context: Omit<BaselineContext, 'control' | 'redact'> & { control: Pick<ControlService, 'features' | 'getBaseline'> },
): Promise<ReadonlyMap<SmokeTest, KeptBaseline>> {
  const { control, deploymentId, revisionId } = context;
  const found = new Map<SmokeTest, KeptBaseline>();
  if (tests.length === 0) return found;
  await whereKept(context, async (options) => {
    for (const test of tests) {
      const kept = await control
        .getBaseline(deploymentId, revisionId, hashOfTest(test), options)
        .catch(undefinedIfMissing);
      const samples = kept && samplesOf(kept);
      if (kept && samples) found.set(test, { samples, takenAt: kept.taken_at });
    }
  });
  return found;
}

/** Keeps the answers of tests with the revision that gave them. Never rejects: it only saves a later measurement. */
export async function keepBaselines(
  measured: ReadonlyMap<SmokeTest, readonly Sample[]>,
  context: BaselineContext,
): Promise<void> {
  const { control, deploymentId, revisionId, redact } = context;
  const requests = [...measured].flatMap(([test, samples]) => {
    const request = samples.length > 0 ? toBaselineRequest(samples, redact) : undefined;
    return request ? [{ hash: hashOfTest(test), request }] : [];
  });
  if (requests.length === 0) return;
  await whereKept(context, async (options) => {
    for (const { hash, request } of requests) {
      await control.keepBaseline(deploymentId, revisionId, hash, request, options);
    }
  });
}

async function whereKept(
  {
    control,
    clock,
    signal,
    missed,
  }: Pick<BaselineContext, 'clock' | 'signal' | 'missed'> & { control: Pick<ControlService, 'features'> },
  work: (options: { signal: AbortSignal | undefined; deadline: number }) => Promise<void>,
): Promise<void> {
  const options = { signal, deadline: clock.now() + baselinesMs };
  try {
    if ((await control.features(options)).baselines === true) await work(options);
  } catch (error) {
    if (!signal?.aborted) missed(error);
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof ServiceError && error.kind === 'missing') return undefined;
  throw error;
}

// What is kept of a test's answers with the revision that gave them: counts, times and paths, and no text.

/** The time that is kept of a request that the agent refused: a real answer takes longer. */
const refusedMs = 0;

/** The newest answers that fit; undefined where they can't be kept as they are: a shortened path would look like another one. */
export function toBaselineRequest(samples: readonly Sample[], redact: Redact): BaselineRequest | undefined {
  const isKept = (names: readonly string[] = []): boolean =>
    names.length <= maxPathLength && names.every((name) => redact(name) === name);
  if (!samples.every(({ nodes, tools }) => isKept(nodes) && isKept(tools))) return undefined;
  for (let most = maxBaselineAnswers; most >= 1; most = Math.floor(most / 2)) {
    const answers = samples
      .slice(-most)
      .map(({ answer, firstEventMs, totalMs, nodes = [], tools = [], tokens, cost }) => ({
        answer,
        first_event_ms: firstEventMs ?? null,
        total_ms: totalMs ?? refusedMs,
        nodes: [...nodes],
        tools: [...tools],
        tokens: tokens ?? null,
        cost: cost ?? null,
      }));
    const request = baselineRequest.safeParse({ answers });
    if (request.success) return request.data;
  }
  return undefined;
}

/** The kept answers; undefined where they can't be compared. */
export function samplesOf({ answers }: Pick<StoredBaseline, 'answers'>): Sample[] | undefined {
  const samples = answers.flatMap(({ answer, nodes, tools, ...measured }): Sample[] => {
    if (answer !== 'right' && answer !== 'wrong' && answer !== 'late') return [];
    const paths = { nodes, tools: tools ?? [] };
    if ([...paths.nodes, ...paths.tools].some((name) => name.includes(shownInstead))) return [];
    const { first_event_ms, total_ms, tokens, cost } = measured;
    const times = { firstEventMs: first_event_ms ?? undefined, totalMs: total_ms === refusedMs ? undefined : total_ms };
    return [{ answer, ...times, ...paths, tokens: tokens ?? undefined, cost: cost ?? undefined }];
  });
  // Leaving out some would make the others look better or worse than all.
  return samples.length === answers.length ? samples : undefined;
}
