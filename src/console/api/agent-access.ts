import { agentAccess, agentAccessMs, type Session } from '../../contract/control/session.ts';

/** The id in `agents/ID/threads`, or in the address of a held revision, `agents/ID@REVISION`. */
const deploymentInPath = /^agents\/([\da-f-]{36})(?=[/@?]|%40|$)/i;

/** A page gets another token before one ends (ms). */
const spareMs = 60_000;

/** The service's responses to requests for tokens. */
const requested = new Map<string, { response: Promise<Response>; until: number }>();

/** Where to send a request for an agent, and the token for it. */
interface AgentRoute {
  url: URL;
  token: string;
}

/**
 * Finds the way of a request to the agents' own origin. Undefined where they have none, and for what is no agent's; the
 * service's response where it gave no token.
 *
 * @param path below the address of the service.
 * @param requestToken sends POST /v1/session/agents.
 */
export async function routeToAgent(
  path: string,
  { agents_url: agentsUrl, csrf_token, tenant_id }: Session,
  requestToken: (deploymentId: string) => Promise<Response>,
): Promise<AgentRoute | Response | undefined> {
  const deploymentId = deploymentInPath.exec(path)?.[1];
  if (deploymentId === undefined || agentsUrl === undefined) return undefined;
  const name = JSON.stringify([csrf_token, tenant_id, deploymentId]);
  const known = requested.get(name);
  const { response, until } =
    known && Date.now() < known.until
      ? known
      : { response: requestToken(deploymentId), until: Date.now() + agentAccessMs - spareMs };
  requested.set(name, { response, until });
  try {
    const received = (await response).clone();
    if (received.ok) {
      const { token } = agentAccess.parse(await received.json());
      return { url: new URL(`${agentsUrl}/${path}`), token };
    }
    requested.delete(name);
    return received;
  } catch (error) {
    requested.delete(name);
    throw error;
  }
}

/** The path of an endpoint of a deployment's agent: `agents/ID/assistants/search`. Every part is encoded. */
export const agentPath = (deploymentId: string, ...parts: readonly (string | number)[]): string =>
  ['agents', deploymentId, ...parts].map((part) => encodeURIComponent(part)).join('/');
