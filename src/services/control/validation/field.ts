import { fieldRules, accepts, type FieldRule } from '../../../contract/control/field-rules.ts';
import { valueAt } from '../../../kit/diagnostics/issues.ts';
import type { Source } from '../../../contract/control/source.ts';

/** The value at a dotted path in a body; undefined where there is none. */
export const fieldAt = (body: unknown, path: string): unknown => valueAt(body, path.split('.'));

/** Whether a request sets a field: null counts as absent (docs/design/contract.md#deployment-settings). */
export const isGiven = (body: unknown, path: string): boolean => fieldAt(body, path) != null;

/** The rules of the fields that a body sets. */
export const rulesGiven = (body: unknown): FieldRule[] => fieldRules.filter(({ path }) => isGiven(body, path));

/** The longest address, path, ref or command, in characters: command lines allow little more. */
const maxTextLength = 4_096;

/** The problem with every text of a body that is too long, without the text. */
export const lengthProblems = (body: unknown): string[] =>
  rulesGiven(body).flatMap(({ path }) => {
    const given = fieldAt(body, path);
    return typeof given === 'string' && given.length > maxTextLength
      ? [`${path} may have at most ${maxTextLength} characters; this one has ${given.length}.`]
      : [];
  });

/** The problem with every field of a body that the source does not have. */
export function unknownFields(source: Source, body: unknown): string[] {
  const unknown = rulesGiven(body).filter((rule) => !accepts(rule, source));
  const reported = unknown.map(({ path, appliesTo }) => doesNotApply(path, source, appliesTo));
  const emptyConfig = source !== 'external_docker' && isGiven(body, 'source_config.listener_config');
  const isReported = unknown.some(({ path }) => path.startsWith('source_config.listener_config'));
  return emptyConfig && !isReported
    ? [...reported, doesNotApply('source_config.listener_config', source, ['external_docker'])]
    : reported;
}

const doesNotApply = (path: string, source: Source, appliesTo: readonly Source[]): string =>
  `${path} is for ${appliesTo.join(' and ')}: leave it out or null with the source ${source}.`;
