import { fieldRules, takes } from '../../contract/control/field-rules.ts';
import type { FieldRule } from '../../contract/control/field-rules.ts';
import type { Source } from '../../contract/control/source.ts';

/** The value that a dotted path names in a body; undefined where nothing stands. */
export function fieldAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => {
    return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
      ? Reflect.get(inner, key)
      : undefined;
  }, body);
}

/** True where a request really gives a field: null and absent are the same (control-service.md, source_config). */
export const isGiven = (body: unknown, path: string): boolean => fieldAt(body, path) != null;

/** The rules whose field a body gives. */
export const rulesGiven = (body: unknown): FieldRule[] => fieldRules.filter(({ path }) => isGiven(body, path));

/** The longest address, path, name of a ref or command, in characters: no command line takes much more. */
const longestText = 4_096;

/** A sentence for every text that a body gives and that is too long to be used, without the text. */
export const lengthProblems = (body: unknown): string[] =>
  rulesGiven(body).flatMap(({ path }) => {
    const given = fieldAt(body, path);
    return typeof given === 'string' && given.length > longestText
      ? [`${path} may have at most ${longestText} characters; this one has ${given.length}.`]
      : [];
  });

/** A sentence for every field that a body gives and that the source does not have. */
export function surplusFields(source: Source, body: unknown): string[] {
  const surplus = rulesGiven(body).filter((rule) => !takes(rule, source));
  const reported = surplus.map(({ path, appliesTo }) => doesNotApply(path, source, appliesTo));
  const emptyConfig = source !== 'external_docker' && isGiven(body, 'source_config.listener_config');
  const isReported = surplus.some(({ path }) => path.startsWith('source_config.listener_config'));
  return emptyConfig && !isReported
    ? [...reported, doesNotApply('source_config.listener_config', source, ['external_docker'])]
    : reported;
}

const doesNotApply = (path: string, source: Source, appliesTo: readonly Source[]): string =>
  `${path} is for ${appliesTo.join(' and ')}: leave it out or null with the source ${source}.`;
