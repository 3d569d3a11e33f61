import { agentAccess, agentAccessMs, type Session } from '../../contract/control/session.ts';

/** The id in `agents/ID/threads`, or in the address of a held revision, `agents/ID@REVISION`. */
const deploymentInPath = /^agents\/([\da-f-]{36})(?=[/@?]|%40|$)/i;

/** How long before its expiry a token is renewed (ms). */
const renewBeforeMs = 60_000;

/** The service's responses to token requests. */
const tokenRequests = new Map<string, { response: Promise<Response>; until: number }>();

/** The address of a request to an agent, and the token for it. */
interface AgentRoute {
  url: URL;
  token: string;
}

/**
 * Routes a request to the agents' own origin. Undefined if there is none, or if the request is not for an agent.
 * Returns the service's response if it issued no token.
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
  const current = tokenRequests.get(name);
  const { response, until } =
    current && Date.now() < current.until
      ? current
      : { response: requestToken(deploymentId), until: Date.now() + agentAccessMs - renewBeforeMs };
  tokenRequests.set(name, { response, until });
  try {
    const received = (await response).clone();
    if (received.ok) {
      const { token } = agentAccess.parse(await received.json());
      return { url: new URL(`${agentsUrl}/${path}`), token };
    }
    tokenRequests.delete(name);
    return received;
  } catch (error) {
    tokenRequests.delete(name);
    throw error;
  }
}

/** The path of an endpoint of a deployment's agent: `agents/ID/assistants/search`. Every part is encoded. */
export const agentPath = (deploymentId: string, ...parts: readonly (string | number)[]): string =>
  ['agents', deploymentId, ...parts].map((part) => encodeURIComponent(part)).join('/');
