import { connectGraders } from '../../src/client/grader.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Secret } from '../../src/contract/control/secret.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import { withoutTrailingSlashes } from '../../src/kit/plain-text.ts';
import { gradedOf, withGrades } from '../../src/deploy/smoke/grade-answer.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import { secretsOf } from './deployment-secrets.ts';

interface GradingOptions {
  control: ControlService;
  clock: Clock;
  random: () => number;
  graderUrls: readonly string[];
}

/** Connects graders with the keys among these secrets; null where the service did not return them. */
export const connectWithSecrets = (
  secrets: readonly Secret[] | null,
  { clock, random, graderUrls }: Omit<GradingOptions, 'control'>,
): ReturnType<typeof connectGraders> =>
  connectGraders({
    userAgent: 'landfall-app',
    clock,
    random,
    keyOf: (name) => secrets?.find((secret) => secret.name === name)?.value,
    refuse: (baseUrl) => {
      if (!secrets) return 'the service did not return the secrets that an answer must not show to a grader';
      return graderUrls.includes(withoutTrailingSlashes(baseUrl))
        ? undefined
        : 'the operator of this App does not allow this address: LANDFALL_GRADERS lists those that are';
    },
  });

/**
 * Grades answers with the keys among the secrets of their deployment: what a repository's file names is never looked up
 * in the App's own environment, and the file does not choose where the App sends requests.
 */
export function createGrading({ control, clock, random, graderUrls }: GradingOptions) {
  return async (
    test: SmokeTest,
    evidence: Evidence,
    { deploymentId, signal }: { deploymentId: string; signal: AbortSignal },
  ): Promise<Evidence> => {
    if (gradedOf(test).length === 0 || evidence.kind !== 'answered') return evidence;
    const secrets = await secretsOf(deploymentId, { control, clock, signal });
    const graders = connectWithSecrets(secrets, { clock, random, graderUrls });
    try {
      return await withGrades(test, evidence, {
        graders,
        signal,
        redact: maskOf((secrets ?? []).map(({ value }) => value)),
      });
    } finally {
      await graders.close();
    }
  };
}
