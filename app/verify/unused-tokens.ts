/** Unused tokens that this process made, by purpose. No other process has them. */
export interface UnusedTokens {
  keep(what: string, token: string): void;
  /** Hands a token out, once. */
  take(what: string): string | undefined;
}

/** More than are ever in use: older ones belong to runs that another process took over. */
const most = 1_000;

export function unusedTokens(): UnusedTokens {
  const tokens = new Map<string, string>();
  return {
    keep(what, token) {
      tokens.set(what, token);
      const [oldest] = tokens.keys();
      if (tokens.size > most && oldest !== undefined) tokens.delete(oldest);
    },
    take(what) {
      const token = tokens.get(what);
      tokens.delete(what);
      return token;
    },
  };
}
