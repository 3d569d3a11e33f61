import { A2A_PROTOCOL_VERSION, AgentCard } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';
import type { Assistant } from '../../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';

const binding = 'JSONRPC';
const plainText = 'text/plain';
const jsonType = 'application/json';

/** Describes an assistant, at an absolute URL, as an agent for other agents. */
export function agentCard(
  { assistant_id, graph_id, name, description, version }: Assistant,
  address: string,
): AgentCard {
  const title = name ?? graph_id;
  const reported = description ?? `Runs the graph "${graph_id}".`;
  const modes = [plainText, jsonType];
  const at = { url: address, protocolBinding: binding, tenant: '' };
  return {
    name: title,
    description: reported,
    version: String(version ?? 1),
    supportedInterfaces: [
      { ...at, protocolVersion: A2A_PROTOCOL_VERSION },
      { ...at, protocolVersion: A2A_LEGACY_PROTOCOL_VERSION },
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [
      {
        id: assistant_id,
        name: title,
        description: reported,
        tags: [graph_id],
        examples: [],
        inputModes: modes,
        outputModes: modes,
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

/** Serializes the card with the fields of version 1.0 and those that readers of 0.3 expect. */
export function writeCard(card: AgentCard): FreeObject {
  const written: unknown = AgentCard.toJSON(card);
  return {
    ...(typeof written === 'object' ? written : {}),
    protocolVersion: A2A_LEGACY_PROTOCOL_VERSION,
    url: card.supportedInterfaces[0]?.url,
    preferredTransport: binding,
    supportsAuthenticatedExtendedCard: false,
  };
}
