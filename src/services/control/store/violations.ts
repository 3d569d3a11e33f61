import { hasCode } from '../../../kit/errors.ts';

const uniqueViolation = '23505';
const foreignKeyViolation = '23503';

/** The name of the unique constraint that an error of the database is about, if it is about one. */
export const brokenConstraint = (error: unknown): string | undefined => constraintOf(error, uniqueViolation);

/** The name of the foreign key that an error of the database is about, if it is about one. */
export const brokenReference = (error: unknown): string | undefined => constraintOf(error, foreignKeyViolation);

function constraintOf(error: unknown, wanted: string): string | undefined {
  if (!hasCode(error, wanted) || !('constraint' in error)) return undefined;
  return typeof error.constraint === 'string' ? error.constraint : undefined;
}
