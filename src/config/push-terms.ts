/** What pushes do after a revision was rolled back: go on, or wait until a person presses Redeploy. */
export const afterRollbacks = ['continue', 'hold'] as const;
export type AfterRollback = (typeof afterRollbacks)[number];

/** A commit whose message says this is not deployed by a push, where the file says nothing else. */
export const defaultSkipWords: readonly string[] = ['[skip deploy]'];

/** A GitHub environment as the file names it. An absent field is derived from the name and the deployment. */
export interface NamedEnvironment {
  name: string;
  production?: boolean;
  transient?: boolean;
}

/** What the deploy file says of pushes and of how GitHub shows them: for the App, and passed over by the Action. */
export interface PushTerms {
  /** Globs from the root of the repository. Absent: every path counts. An empty `include` includes all. */
  paths?: { include: readonly string[]; exclude: readonly string[] };
  skipWords: readonly string[];
  afterRollback: AfterRollback;
  environment?: NamedEnvironment;
}
