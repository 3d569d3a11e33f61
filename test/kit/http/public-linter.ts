import { createConfig, lintFromString } from '@redocly/openapi-core';

/** What Redocly's recommended rules say of a document, one line for each finding. */
export async function lintFindings(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location }) => `${ruleId} ${location.map(({ pointer }) => pointer).join(' ')}`);
}
