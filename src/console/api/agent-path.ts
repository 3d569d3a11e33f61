/** The path of an endpoint of a deployment's agent: `agents/ID/assistants/search`. Every part is encoded. */
export const agentPath = (deploymentId: string, ...parts: readonly (string | number)[]): string =>
  ['agents', deploymentId, ...parts].map((part) => encodeURIComponent(part)).join('/');
