import * as core from '@actions/core';
import type { DeployEvent } from '../deploy/deploy-event.ts';
import { withoutCommands } from '../report/sanitize.ts';
import { eventLines } from '../report/event-lines.ts';

type Phase = 'Look and plan' | 'Upload' | 'Rollout' | 'Smoke tests' | 'Rollback' | 'Deletion';

/** The group of the log that an event opens; every other event belongs to the group that is open. */
const opens: Partial<Record<DeployEvent['kind'], Phase>> = {
  looking: 'Look and plan',
  uploading: 'Upload',
  deleting: 'Deletion',
  started: 'Rollout',
  'smoke-began': 'Smoke tests',
  'rolling-back': 'Rollback',
};

/** Prints text so that no line of it can act as a command to the runner. */
export const print = (text: string): void => core.info(withoutCommands(text));

/** Prints the progress of a deploy run, in log groups. */
export class Progress {
  #open: Phase | undefined;

  readonly emit = (event: DeployEvent): void => {
    const phase = opens[event.kind];
    // A rollback follows a revision and runs smoke tests too: these events stay in its group.
    if (phase && phase !== this.#open && this.#open !== 'Rollback') {
      this.close();
      core.startGroup(phase);
      this.#open = phase;
    }
    for (const line of eventLines(event)) print(line);
  };

  close(): void {
    if (this.#open) core.endGroup();
    this.#open = undefined;
  }
}
