import type { Clock } from '../../src/clock.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Redact } from '../../src/planning/expectation-words.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { Secrecy } from '../../src/deploy/secrecy.ts';

/** How long the service may take to tell a deployment's secrets (ms). */
const readSecretsMs = 15_000;

/** How texts are made fit to be shown: what an agent said, and what was written about it or for it. */
export interface Hiding {
  said: Redact;
  written: Redact;
}

/**
 * What a deployment's agent said may hold the deployment's secrets: they are blotted out. Where the service can't tell
 * them at the moment, nothing that the agent said is shown.
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
      said: (text) => (text === '' ? '' : '(not shown: the service could not tell what is secret)'),
      written: (text) => text,
    };
  }
  const secrecy = new Secrecy(() => undefined);
  secrecy.learn(reported.value.secrets);
  const hide: Redact = (text) => secrecy.redact(text);
  return { said: hide, written: hide };
}
