import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import type { Problem } from '../../kit/diagnostics/problem.ts';
import { optionInputs, type Inputs } from './input-table.ts';
import { inputProblem } from './inputs.ts';

type Options = typeof optionInputs;
type NameOf<Kind> = { [Name in keyof Options]: Options[Name] extends { kind: Kind } ? Name : never }[keyof Options];

/** Reads inputs by the table of them, and collects what is wrong. A wrong input is read as its default. */
export class OptionReader {
  readonly problems: Problem[] = [];
  readonly #inputs: Inputs;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
  }

  addProblem(name: keyof Options, message: string, suggestion?: string): void {
    this.problems.push(inputProblem(name, message, suggestion));
  }

  text(name: keyof Options): string | undefined {
    return this.#inputs[name]?.trim() || undefined;
  }

  flag(name: NameOf<'flag'>): boolean {
    const written = (this.text(name) ?? optionInputs[name].default).toLowerCase();
    if (written === 'true' || written === 'false') return written === 'true';
    this.addProblem(name, `${name} is true or false`);
    return optionInputs[name].default === 'true';
  }

  /** @param row that of the input in the table, for the type of its words */
  word<Word extends string>(name: NameOf<'word'>, row: { words: readonly Word[]; default: NoInfer<Word> }): Word {
    const written = this.text(name);
    const found = written === undefined ? row.default : row.words.find((each) => each === written);
    if (found !== undefined) return found;
    this.addProblem(name, `${name} is one of ${row.words.join(', ')}`, didYouMean(written ?? '', row.words));
    return row.default;
  }

  number(name: NameOf<'number'>): number {
    const { least, most, default: absent } = optionInputs[name];
    const count = Number(this.text(name) ?? absent);
    if (Number.isFinite(count) && count >= least && count <= most) return count;
    this.addProblem(name, `${name} is a number from ${least} to ${most}`);
    return Number(absent);
  }
}
