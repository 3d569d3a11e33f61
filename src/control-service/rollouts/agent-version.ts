import * as z from 'zod';
import { pause, type Clock } from '../../clock.ts';
import type { AgentProgram, RunningAgent } from '../compute/compute.ts';
import { requestAgent, isOk } from '../gateway/request-agent.ts';

/** The timeout of the request for an agent's version, in milliseconds: short, since it has just been healthy. */
const withinMs = 3_000;

/** The longest response that is read, in bytes. */
const longestAnswer = 65_536;

const info = z.looseObject({ version: z.string().regex(/^[\x21-\x7e]{1,255}$/) });

/**
 * The `image_version` of a deployment (control-service.md, Deployment, leaves its source open): the version that the
 * agent's server reports (agent-server.md, `GET /info`), else the tag of its image, else null.
 */
export async function agentVersion(
  { origin, token }: Pick<RunningAgent, 'origin' | 'token'>,
  program: AgentProgram,
  clock: Clock,
): Promise<string | null> {
  const done = new AbortController();
  const late = pause(clock, withinMs, done.signal).then(() => undefined);
  const reported = await Promise.race([reportedAgentVersion(origin, token, done.signal), late]);
  done.abort();
  return reported ?? (program.kind === 'image' ? tagOf(program.imageUri) : null);
}

/** The tag of an image's address; null without one. */
export function tagOf(imageUri: string): string | null {
  const name = imageUri.split('@')[0]?.split('/').at(-1) ?? '';
  return name.includes(':') ? name.slice(name.indexOf(':') + 1) : null;
}

async function reportedAgentVersion(origin: string, token: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await requestAgent({ origin, token }, '/info', signal);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > longestAnswer) return undefined;
      chunks.push(bytes);
    }
    return isOk(response)
      ? info.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8'))).data?.version
      : undefined;
  } catch {
    // The version is optional: a server without one serves as well.
    return undefined;
  }
}
