import type { SettingsField } from './fields.ts';

/** What saving does. */
export interface SaveEffect {
  makesRevision: boolean;
  /** For people, before they save. */
  message: string;
}

/** What saving these changed fields does; undefined where nothing has changed. */
export function saveEffect(changed: readonly Pick<SettingsField, 'label' | 'effect'>[]): SaveEffect | undefined {
  if (changed.length === 0) return undefined;
  const labels = (effect: SettingsField['effect']): string[] =>
    changed.filter((field) => field.effect === effect).map(({ label }) => label);
  const [now, next] = [labels('in-place'), labels('next-revision')];
  if (labels('revision').length > 0) {
    return {
      makesRevision: true,
      message: 'Saving creates a new revision with all these changes. The live one serves until it is ready.',
    };
  }
  if (next.length === 0) return { makesRevision: false, message: 'Saving changes this at once, without a revision.' };
  if (now.length === 0) {
    return {
      makesRevision: false,
      message: 'Saving creates no revision: the change takes effect with the next revision.',
    };
  }
  return {
    makesRevision: false,
    message: `Saving creates no revision. Changed at once: ${now.join(', ')}. With the next revision: ${next.join(', ')}.`,
  };
}
