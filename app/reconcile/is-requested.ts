import type { AppContext } from '../context.ts';
import type { Cause } from './deploy-request.ts';

/** How many of a deployment's newest intents are searched. */
const maxSearchedIntents = 100;

/** Whether a delivery that is handled again has made its request, whatever it would be about now. */
export async function isRequested(
  deploymentId: string,
  { kind, key }: Cause,
  { store }: Pick<AppContext, 'store'>,
): Promise<boolean> {
  const last = await store.lastIntents(deploymentId, maxSearchedIntents);
  return last.some(({ cause }) => cause.kind === kind && cause.key === key);
}
