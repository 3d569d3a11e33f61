/** A requested run. */
export interface SentRun {
  /** What its graph says of it, wherever it comes. */
  mark: string;
  /** Undefined where it is stateless. */
  threadId: string | undefined;
  runId: string | undefined;
  /** It was acknowledged: it has to be there. */
  accepted: boolean;
  /** It was refused: it must not be there. */
  refused: boolean;
  /** How its graph ends, when it is let be. */
  end: 'success' | 'error';
  /** The steps that it adds to its thread where it ends well. */
  steps: readonly string[];
  /** Whether it needs no caller and was not cancelled: it must end as its graph does. */
  sure: boolean;
  /** It may have been rolled back: then it is gone with all that it did. */
  mayBeUndone: boolean;
  /** It was deleted, or its thread was: what it did on the thread stays. */
  isDeleted: boolean;
  hooked: boolean;
  /** The outcomes its callers saw: `success`, or the name of an error. */
  reply: string[];
}

/** The runs that a caller requested. */
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

  /** A thread is gone with its runs. */
  gone(threadId: string): void {
    for (const run of this.all) {
      if (run.threadId === threadId) [run.sure, run.isDeleted] = [false, true];
    }
  }
}
