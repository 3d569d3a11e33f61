/** What a graph is made for, as the public server tells it to a factory. */
export type ServerRuntime =
  | { accessContext: 'threads.create_run'; executionRuntime: { context: Record<string, unknown> | undefined } }
  | { accessContext: 'assistants.read' | 'threads.read' | 'threads.update'; executionRuntime: null };

/** The graph itself is read, not a thread. */
export const readsAssistant: ServerRuntime = { accessContext: 'assistants.read', executionRuntime: null };
export const readsThread: ServerRuntime = { accessContext: 'threads.read', executionRuntime: null };
export const updatesThread: ServerRuntime = { accessContext: 'threads.update', executionRuntime: null };
/** A run with this context is executed, or about to be. */
export const createsRun = (context: Record<string, unknown> | undefined): ServerRuntime => ({
  accessContext: 'threads.create_run',
  executionRuntime: { context },
});
