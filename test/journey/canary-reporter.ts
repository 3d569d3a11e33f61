/** A vitest reporter: fails a run in which a secret of the journeys was printed or is part of an error. */
import { inspect } from 'node:util';
import type { UserConsoleLog } from 'vitest';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { newCanaryWord, sings } from './canary-word.ts';

/** Makes the word that the canaries of a run contain, and searches all output of the run for it. */
export default class CanaryReporter implements Reporter {
  readonly #word = newCanaryWord();
  readonly #heard = new Set<string>();
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    vitest.provide('canaryWord', this.#word);
  }

  onTestRunStart(): void {
    this.#heard.clear();
  }

  onUserConsoleLog({ content, type, taskId }: UserConsoleLog): void {
    if (!sings(this.#word, content)) return;
    const task = taskId === undefined ? undefined : this.#vitest?.state.getReportedEntityById(taskId);
    this.#heard.add(`${task === undefined || task.type === 'module' ? 'a test file' : task.fullName}: in ${type}`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#listenTo('the run', unhandled);
    for (const module of modules) {
      this.#listenTo(module.relativeModuleId, module.errors());
      for (const suite of module.children.allSuites()) this.#listenTo(suite.fullName, suite.errors());
      for (const test of module.children.allTests()) this.#listenTo(test.fullName, test.result().errors ?? []);
    }
    if (this.#heard.size === 0) return;
    const places = [...this.#heard].map((place) => `  ${sings(this.#word, place) ? 'a title' : place}`);
    this.#vitest?.logger.error(`canaries: found a secret in ${places.length} places\n${places.join('\n')}`);
    process.exitCode = 1;
  }

  #listenTo(place: string, errors: readonly SerializedError[]): void {
    const words = errors.map((error) => inspect(error, { depth: Infinity, maxStringLength: Infinity }));
    if (words.some((each) => sings(this.#word, each))) this.#heard.add(`${place}: in an error`);
  }
}
