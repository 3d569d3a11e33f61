import type { ReportLocks } from '../../../app/reporting/send-report.ts';
import type { ModelProcess } from './model-process.ts';

/** Locks that all processes share: one of a process that died is free at once. */
export class ModelLocks {
  readonly #held = new Map<string, ModelProcess>();

  /** The locks as this process takes them. */
  of(process: ModelProcess): ReportLocks {
    return {
      exclusively: async (reportId, work) => {
        if (this.#held.get(reportId)?.isAlive) return undefined;
        this.#held.set(reportId, process);
        try {
          return { value: await work() };
        } finally {
          if (this.#held.get(reportId) === process) this.#held.delete(reportId);
        }
      },
    };
  }
}
