import { Refusal } from '../refusal.ts';

/** The languages of the engines, whose checkpoints only those of the same language read. */
export type EngineLanguage = 'javascript' | 'python';

const names: Record<EngineLanguage, string> = { javascript: 'JavaScript or TypeScript', python: 'Python' };

/** The types that values are stored as by one of the engines only. */
export const storedTypes: Record<EngineLanguage, string> = { javascript: 'json', python: 'msgpack' };

/** The type that an engine can't read; null for one that reads all. */
export const typeOfOthers = (language: EngineLanguage | undefined): string | null =>
  language === undefined ? null : storedTypes[language === 'python' ? 'javascript' : 'python'];

/** A thread has the checkpoints of a graph in the other language. */
export class OtherLanguage extends Refusal {
  constructor(written: EngineLanguage) {
    const read = written === 'python' ? 'javascript' : 'python';
    super(
      409,
      `The state of this thread was written by a graph in ${names[written]}, which one in ${names[read]} can't read. ` +
        'Start another thread, or run the graph that wrote it.',
    );
    this.name = 'OtherLanguage';
  }
}
