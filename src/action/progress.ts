import * as core from '@actions/core';
import type { StoryEvent } from '../deploy/story-event.ts';
import { withoutCommands } from '../report/harmless.ts';
import { storyLines } from '../report/story-line.ts';

type Phase = 'Look and plan' | 'Upload' | 'Rollout' | 'Smoke tests' | 'Rollback' | 'Deletion';

/** The group of the log that an event opens; every other event belongs to the group that is open. */
const opens: Partial<Record<StoryEvent['kind'], Phase>> = {
  looking: 'Look and plan',
  uploading: 'Upload',
  deleting: 'Deletion',
  begun: 'Rollout',
  'smoke-began': 'Smoke tests',
  'rolling-back': 'Rollback',
};

/** Prints text so that no line of it can act as a command to the runner. */
export const print = (text: string): void => core.info(withoutCommands(text));

/** Prints the story as it happens, in groups of the log. */
export class Progress {
  #open: Phase | undefined;

  readonly tell = (event: StoryEvent): void => {
    const phase = opens[event.kind];
    // A rollback follows a revision and asks questions too: these stay in its group.
    if (phase && phase !== this.#open && this.#open !== 'Rollback') {
      this.close();
      core.startGroup(phase);
      this.#open = phase;
    }
    for (const line of storyLines(event)) print(line);
  };

  close(): void {
    if (this.#open) core.endGroup();
    this.#open = undefined;
  }
}
