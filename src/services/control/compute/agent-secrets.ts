/** What only an agent may know. */
export interface AgentSecrets {
  /** The variables of its deployment and its revision. */
  secrets: readonly { value: string }[];
  /** The address of its database, or only the password. */
  database: string;
  /** The tokens that the service gives it. */
  tokens: readonly (string | undefined)[];
}

/** All secrets of an agent, to be masked in its logs, its traced runs and the verdicts on it. */
export function agentSecrets({ secrets, database, tokens }: AgentSecrets): string[] {
  const password = URL.canParse(database) ? decodeURIComponent(new URL(database).password) : '';
  const all = [...secrets.map(({ value }) => value), database, password, ...tokens];
  return all.filter((secret) => secret !== undefined);
}
