import type { Clock } from '../../src/clock.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Redact } from '../../src/planning/format-expectation.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { maskOf } from '../../src/contract/mask.ts';

/** Timeout for reading a deployment's secrets (ms). */
const readSecretsMs = 15_000;

/** The values of a deployment's secrets; null where the service could not return them. */
export type KnownSecrets = readonly string[] | null;

/** Redacts texts: an agent's output, and our own texts about it. */
export interface Redaction {
  said: Redact;
  written: Redact;
}

/** Reads the secrets that a deployment's agent may repeat. */
export async function secretsOf(
  deploymentId: string,
  { control, clock, signal }: { control: ControlService; clock: Clock; signal: AbortSignal },
): Promise<KnownSecrets> {
  const reported = await attempt(
    control.getDeployment(deploymentId, { signal, deadline: clock.now() + readSecretsMs }),
  );
  return reported.ok ? reported.value.secrets.map(({ value }) => value) : null;
}

/** Redacts a deployment's secrets in its agent's output. If they are unknown, none of the output is shown. */
export function redactionOf(secrets: KnownSecrets): Redaction {
  if (secrets === null) {
    return {
      said: (text) => (text === '' ? '' : '(not shown: the service did not return the secrets to redact)'),
      written: (text) => text,
    };
  }
  const mask: Redact = maskOf(secrets);
  return { said: mask, written: mask };
}
