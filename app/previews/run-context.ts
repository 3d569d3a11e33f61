import type { PreviewContext } from './preview-context.ts';
import type { PreviewRun } from './preview-store.ts';

/** What a run of a preview works with. */
export interface RunContext extends PreviewContext {
  run: PreviewRun;
  /** Aborts when a newer version is wanted, when another process goes on, and on shutdown. */
  signal: AbortSignal;
}

/** How long until the service is tried again (ms). */
export const retryAfterMs = (failures: number): number => Math.min(60_000, 5_000 * 2 ** Math.min(10, failures - 1));
