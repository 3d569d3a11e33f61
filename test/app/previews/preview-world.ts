import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import { appCode } from '../simulation/app-code.ts';
import type { ModelProcess } from '../simulation/model-process.ts';
import { Simulation, type Code } from '../simulation/simulation.ts';
import { onlyPreviews } from './preview-history.ts';

/** The settings of a world. */
export interface WorldSetting {
  when: string;
  expiresAfter: string;
  max: number;
  copies: number;
  honoursKeys: boolean;
  pinsCommits: boolean;
  seed: number;
}

/** The code that works on previews; tests replace parts by wrong ones. */
interface PreviewCode {
  contextOf: (context: PreviewContext) => PreviewContext;
}

/** The App's own code. */
export const previewCode: PreviewCode = { contextOf: (context) => context };

/** The simulation with pull requests alone, for tests that do one thing after the other. */
export class PreviewWorld extends Simulation {
  /** The names of deployments that are not the App's. */
  readonly others = this.control.alive.map(({ name }) => name);

  constructor(
    { when, expiresAfter, max, copies, honoursKeys, pinsCommits, seed }: WorldSetting,
    { contextOf }: PreviewCode = previewCode,
  ) {
    const offers = { ...onlyPreviews.offers, idempotencyKeys: honoursKeys, pinsCommits };
    const code: Code = { ...appCode, previewContext: contextOf };
    super({ ...onlyPreviews, previews: { when, expiresAfter, max }, copies, seed, offers }, code);
  }

  get alive(): ModelProcess[] {
    return this.processes.filter(({ isAlive }) => isAlive);
  }

  /** A delivery of a pull request arrives after each of these times (ms). */
  deliverChange(number: number, arrive: readonly number[]): void {
    this.deliverPull(number, 'synchronize', arrive);
  }

  /** A person with write access requests the preview of a commit. */
  approve(number: number, commit: string): void {
    this.comment({ body: `/preview ${commit}`, number, by: 'octocat', copies: 1 }, [0]);
  }
}
