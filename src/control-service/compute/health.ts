import { pause, type Clock } from '../../clock.ts';
import { requestAgent, isOk } from '../gateway/request-agent.ts';

const betweenTries = 200;

/**
 * Polls an agent's health (`GET /ok`) until it succeeds.
 *
 * @returns whether it did before `signal` aborted.
 */
export async function becomesHealthy(
  origin: string,
  token: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    if (await isHealthy(origin, token, signal)) return true;
    await pause(clock, betweenTries, signal);
  }
  return false;
}

async function isHealthy(origin: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await requestAgent({ origin, token }, '/ok', signal);
    response.destroy();
    return isOk(response);
  } catch {
    // It has stopped listening, or the time is up: the caller checks which.
    return false;
  }
}
