/** A requested run. */
export interface SentRun {
  /** Identifies the run in its graph's output. */
  mark: string;
  /** Undefined if stateless. */
  threadId: string | undefined;
  runId: string | undefined;
  /** Acknowledged: it must exist. */
  accepted: boolean;
  /** Rejected: it must not exist. */
  refused: boolean;
  /** The outcome of its graph when undisturbed. */
  end: 'success' | 'error';
  /** The steps added to its thread on success. */
  steps: readonly string[];
  /** Whether it needs no client and was not cancelled: it must end as its graph does. */
  sure: boolean;
  /** Possibly rolled back: it and all its effects are gone. */
  mayBeUndone: boolean;
  /** It or its thread was deleted: its effects on the thread stay. */
  isDeleted: boolean;
  hooked: boolean;
  /** The outcomes its callers saw: `success`, or the name of an error. */
  reply: string[];
}

/** The runs that a client requested. */
export class RunLedger {
  readonly all: SentRun[] = [];

  add(run: Pick<SentRun, 'mark' | 'threadId' | 'hooked'> & Partial<SentRun>): SentRun {
    const sent: SentRun = {
      runId: undefined,
      accepted: false,
      refused: false,
      end: 'success',
      steps: [`prepare ${run.mark}`, `answer ${run.mark}`],
      sure: false,
      mayBeUndone: false,
      isDeleted: false,
      reply: [],
      ...run,
    };
    this.all.push(sent);
    return sent;
  }

  /** Runs of a thread whose outcome no caller has seen yet. */
  open(threadId: string): SentRun[] {
    return this.all.filter((run) => run.threadId === threadId && run.reply.length === 0);
  }

  /** Cancels the active runs of a thread, and drops them on rollback. */
  endOpenWork(threadId: string, { forgets, but }: { forgets: boolean; but?: SentRun }): void {
    for (const run of this.open(threadId)) {
      if (run === but) continue;
      run.sure = false;
      run.mayBeUndone ||= forgets;
    }
  }

  /** Removes a thread with its runs. */
  gone(threadId: string): void {
    for (const run of this.all) {
      if (run.threadId === threadId) [run.sure, run.isDeleted] = [false, true];
    }
  }
}
