import { knownSecrets, type Secret } from '../../src/contract/control/secret.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import type { Clock } from '../../src/kit/clock.ts';

/** Timeout for reading a deployment's secrets (ms). */
const readSecretsMs = 15_000;

/** Reads the secrets that a deployment's agent may repeat. */
export async function secretsOf(
  deploymentId: string,
  { control, clock, signal }: { control: ControlService; clock: Clock; signal: AbortSignal },
): Promise<readonly Secret[] | null> {
  const options = { signal, deadline: clock.now() + readSecretsMs };
  const reported = await tryCall(control.getDeployment(deploymentId, options));
  return (reported.ok ? knownSecrets(reported.value.secrets) : undefined) ?? null;
}
