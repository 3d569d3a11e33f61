import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Evidence, Sample, TestVerdict } from '../../src/deploy/rules/verdict-types.ts';
import { answersBefore, comparedAnswers } from '../../src/deploy/rules/against-live.ts';
import { judgeAll, settled } from '../../src/deploy/rules/judge.ts';
import {
  compareStates,
  type ConversationProblem,
  type ConversationSides,
} from '../../src/deploy/rules/conversations.ts';
import { asJudged, compactAttempts, withAnswers } from '../../src/deploy/rules/series.ts';
import { concludeTest, nextAttempt } from '../../src/deploy/rules/verdict.ts';
import { cutVerdict, redacted } from '../../src/deploy/smoke/smoke.ts';
import { startWorker, type WorkerOptions } from '../worker/worker.ts';
import type { WorkRequest } from '../worker/worker-process.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Redact } from '../../src/deploy/words/format-expectation.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import { knownSecrets, type Secret } from '../../src/contract/control/secret.ts';

/** Timeout for reading a deployment's secrets (ms). */
const readSecretsMs = 15_000;

/** The values of a deployment's secrets; null where the service could not return them, or hides one. */
type KnownSecrets = readonly string[] | null;

/** Reads the secrets that a deployment's agent may repeat. */
export async function secretsOf(
  deploymentId: string,
  { control, clock, signal }: { control: ControlService; clock: Clock; signal: AbortSignal },
): Promise<readonly Secret[] | null> {
  const options = { signal, deadline: clock.now() + readSecretsMs };
  const reported = await tryCall(control.getDeployment(deploymentId, options));
  return (reported.ok ? knownSecrets(reported.value.secrets) : undefined) ?? null;
}

/** Where the secrets are unknown. */
export const notShown: Redact = (text) =>
  text === '' ? '' : '(not shown: the service did not return the secrets to redact)';

/** One smoke test and all attempts at it. */
interface Attempts {
  test: SmokeTest;
  attempts: readonly Evidence[];
}

/** What follows the last attempt: another one, before which these are stored, or the verdict. */
export type NextAttempt = { kind: 'again'; kept: readonly Evidence[] } | { kind: 'enough' } | { kind: 'unjudged' };

/** Attempts at measuring: what is stored of them, and whether more are made. */
export type Measured = { kind: 'again' | 'enough'; kept: readonly Evidence[] } | { kind: 'unjudged' };

/** A verdict, and the answers of the tested agent where they were compared with others. */
export interface Conclusion {
  verdict: TestVerdict;
  compared: readonly Sample[];
}

/** Judges an agent's responses: they are untrusted, and so are the expectations of a repository. */
export interface Judge {
  nextAttempt(tried: Attempts): Promise<NextAttempt>;
  /** The verdict, without the secrets that the agent may repeat. `isOutOfTime`: no further attempt can be made. */
  conclude(tried: Attempts & { secrets: KnownSecrets; isOutOfTime?: boolean | undefined }): Promise<Conclusion>;
  /** Counts the answers of the live agent, before there is another one. */
  measure(tried: Attempts): Promise<Measured>;
  /** What a new revision breaks of a conversation; undefined where comparing was given up. */
  compareStates(sides: ConversationSides): Promise<ConversationProblem[] | undefined>;
}

/** Judges in the calling process. */
export const judgeHere: Judge = {
  nextAttempt: async ({ test, attempts: made }) => {
    const attempts = made.map((each) => settled(test, each));
    if (nextAttempt(test, attempts) === 'enough') return { kind: 'enough' };
    const kept = keepAttempts(test, attempts);
    return kept ? { kind: 'again', kept } : { kind: 'unjudged' };
  },
  conclude: async ({ test, attempts: made, secrets, isOutOfTime = false }) => {
    const attempts = made.map((each) => settled(test, each));
    const isCut = isOutOfTime && nextAttempt(test, attempts) === 'again';
    const compared = isCut ? [] : bounded(comparedAnswers(test, attempts));
    const conclude = isCut ? cutVerdict : concludeTest;
    // If the secrets are unknown, none of the agent's output is shown.
    if (secrets === null) return { verdict: conclude(test, attempts, notShown), compared };
    const mask = maskOf(secrets);
    return { verdict: redacted(conclude(test, attempts, mask), mask), compared };
  },
  measure: async ({ test, attempts: made }) => {
    const attempts = made.map((each) => asJudged(test, settled(test, each)));
    if (JSON.stringify(attempts).length > largest) return { kind: 'unjudged' };
    return { kind: nextAttempt(withAnswers(test, answersBefore(test)), attempts), kept: attempts };
  },
  compareStates: async (sides) => compareStates(sides),
};

const bounded = (samples: readonly Sample[]): readonly Sample[] =>
  JSON.stringify(samples).length > largest ? [] : samples;

/** The verdict on responses that could not be judged. A busy machine may be the reason, so it is no failure. */
export const unjudged: TestVerdict = {
  kind: 'unproven',
  because: 'unjudged',
  why: 'judging its responses takes too much time or memory: make the expectations simpler, or the responses shorter',
};

/** Judges in a process of its own: its time and memory grow with the responses and the expectations. */
export function processJudge(options: WorkerOptions): Judge & { close(): Promise<void> } {
  const worker = startWorker(options);
  const request = async (work: WorkRequest): Promise<string | undefined> => {
    const result = await worker.request(work);
    return result.kind === 'done' ? result.json : undefined;
  };
  return {
    async nextAttempt(tried) {
      const json = await request({ name: 'nextAttempt', argument: tried });
      return json === undefined ? { kind: 'unjudged' } : JSON.parse(json);
    },
    async conclude(tried) {
      const json = await request({ name: 'conclude', argument: tried });
      return json === undefined ? { verdict: unjudged, compared: [] } : JSON.parse(json);
    },
    async measure(tried) {
      const json = await request({ name: 'measure', argument: tried });
      return json === undefined ? { kind: 'unjudged' } : JSON.parse(json);
    },
    async compareStates(sides) {
      const json = await request({ name: 'compareStates', argument: sides });
      return json === undefined ? undefined : JSON.parse(json);
    },
    close: worker.close,
  };
}

/** The largest responses of one test that are stored during its next attempt (characters of JSON, all together). */
const largest = 256 * 1024;

/**
 * Attempts as stored until the next one: every step reads them again. The values of the oldest are dropped first. A
 * wrong attempt stays wrong without its values; one that was only late proves nothing. Of a series nothing that is
 * counted is dropped: undefined where that does not fit.
 */
export function keepAttempts(test: SmokeTest, attempts: readonly Evidence[]): Evidence[] | undefined {
  let room = largest;
  const fits = (evidence: Evidence): boolean => {
    const { length } = JSON.stringify(evidence);
    if (length > room) return false;
    room -= length;
    return true;
  };
  if (test.series) {
    const counted = attempts.map((each) => asJudged(test, each));
    if (!counted.every(fits)) return undefined;
    const isKept = (whole: Evidence): boolean => whole.kind === 'answered' && fits(whole);
    return compactAttempts(test, attempts).map((whole, index) => (isKept(whole) ? whole : (counted[index] ?? whole)));
  }
  return attempts
    .toReversed()
    .map((whole) => [whole, withoutValues(test, whole)].find(fits) ?? tooLarge)
    .toReversed();
}

const tooLarge: Evidence = { kind: 'unreachable', why: 'its response was too large to store' };

function withoutValues(test: SmokeTest, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered') return evidence;
  return judgeAll(test, [evidence])[0]?.kind === 'wrong' ? { ...evidence, values: undefined } : tooLarge;
}
