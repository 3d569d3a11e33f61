import type { Clock } from '../../src/clock.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Redact } from '../../src/planning/format-expectation.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { maskOf } from '../../src/contract/mask.ts';

/** Timeout for reading a deployment's secrets (ms). */
const readSecretsMs = 15_000;

/** Redacts texts: an agent's output, and our own texts about it. */
export interface Hiding {
  said: Redact;
  written: Redact;
}

/**
 * Redacts the deployment's secrets in its agent's output. If the service cannot return them now, none of the output is
 * shown.
 */
export async function hidingSecretsOf(
  deploymentId: string,
  { control, clock, signal }: { control: ControlService; clock: Clock; signal: AbortSignal },
): Promise<Hiding> {
  const reported = await attempt(
    control.getDeployment(deploymentId, { signal, deadline: clock.now() + readSecretsMs }),
  );
  if (!reported.ok) {
    return {
      said: (text) => (text === '' ? '' : '(not shown: the service did not return the secrets to redact)'),
      written: (text) => text,
    };
  }
  const hide: Redact = maskOf(reported.value.secrets.map(({ value }) => value));
  return { said: hide, written: hide };
}
