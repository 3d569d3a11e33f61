/** Steps that matching may still take: a path that is given up for want of them is not matched. */
export interface StepBudget {
  left: number;
}

/** Matches a path against a glob that was found valid. */
export type GlobMatcher = (path: string, budget?: StepBudget) => boolean;

/** A state reads one character and goes on to `next`, or chooses among `next` without reading. The first is the end. */
interface State {
  reads?: (character: string) => boolean;
  next: number[];
}

const end = 0;
const isAny = (): boolean => true;
const isOfName = (character: string): boolean => character !== '/';
const is = (expected: string) => (character: string) => character === expected;

/** What a glob is made of: a class, a choice, `**` with the slash after it, or one character. */
const part = /\[[^\][]+\]|\{[^{}]*\}|\*\*\/?|[^]/gu;

/**
 * Makes a matcher that reads each character of a path once, with all states that the glob can be in: it takes at most
 * the length of the path times the length of the glob, and never goes back.
 */
export function globMatcher(glob: string): GlobMatcher {
  const states: State[] = [{ next: [] }];
  const start = append(states, glob, end);
  // Most paths that do not match neither begin nor end like the glob, which takes no steps to see.
  const head = /^[^*?[{]*/.exec(glob)?.[0] ?? '';
  // The slash behind `**` belongs to it: both may stand for nothing.
  const tail = glob.slice(Math.max(...['**/', '*', '?', ']', '}'].map((sign) => endOfLast(glob, sign))));
  /** The turn at which each state was reached last, so that it is followed once a turn. */
  const reachedAt = new Float64Array(states.length);
  let turn = 0;
  return (path, budget = { left: Infinity }) => {
    const reach = (index: number, reading: State[]): void => {
      const state = states[index];
      if (!state || reachedAt[index] === turn) return;
      reachedAt[index] = turn;
      budget.left -= 1;
      if (state.reads) reading.push(state);
      else for (const each of state.next) reach(each, reading);
    };
    if (!path.startsWith(head) || !path.endsWith(tail)) return false;
    turn += 1;
    let current: State[] = [];
    reach(start, current);
    for (const character of path) {
      if (current.length === 0 || budget.left <= 0) return false;
      turn += 1;
      budget.left -= current.length;
      const following: State[] = [];
      for (const { reads, next } of current) if (reads?.(character)) for (const each of next) reach(each, following);
      current = following;
    }
    return reachedAt[end] === turn;
  };
}

/** Where the last of a sign in a glob ends; 0 where there is none. */
function endOfLast(glob: string, sign: string): number {
  const at = glob.lastIndexOf(sign);
  return at === -1 ? 0 : at + sign.length;
}

/** Appends the states of a glob that goes on to the state `next`, from its last part to its first. */
function append(states: State[], glob: string, next: number): number {
  const add = (state: State): number => states.push(state) - 1;
  const repeat = (reads: (character: string) => boolean, then: number): number => {
    const choice: State = { next: [then] };
    const first = add(choice);
    choice.next.push(add({ reads, next: [first] }));
    return first;
  };
  return (glob.match(part) ?? []).reduceRight((then, written) => {
    if (written === '*') return repeat(isOfName, then);
    if (written === '**') return add({ reads: isAny, next: [repeat(isAny, then)] });
    if (written === '**/') {
      const choice: State = { next: [then] };
      const first = add(choice);
      choice.next.push(repeat(isOfName, add({ reads: is('/'), next: [first] })));
      return first;
    }
    if (written === '?') return add({ reads: isOfName, next: [then] });
    if (written.startsWith('[')) return add({ reads: classOf(written), next: [then] });
    if (written.startsWith('{')) {
      return add({ next: choicesOf(written).map((choice) => append(states, choice, then)) });
    }
    return add({ reads: is(written), next: [then] });
  }, next);
}

/** The choices of `{one,[,]two}`: a comma within a class separates nothing. */
function choicesOf(written: string): string[] {
  const choices: string[][] = [[]];
  for (const each of written.slice(1, -1).match(part) ?? []) {
    if (each === ',') choices.push([]);
    else choices.at(-1)?.push(each);
  }
  return choices.map((choice) => choice.join(''));
}

function classOf(written: string): (character: string) => boolean {
  const isNegated = written.startsWith('[!');
  const ranges = [...written.slice(isNegated ? 2 : 1, -1).matchAll(/([^])-([^])|([^])/gu)].map(
    ([, from, to, one = '']) => [from ?? one, to ?? one].map((character) => character.codePointAt(0) ?? 0),
  );
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    const isIn = ranges.some(([from = 0, to = 0]) => from <= code && code <= to);
    return character !== '/' && isIn !== isNegated;
  };
}
