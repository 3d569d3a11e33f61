/** The name of the unique constraint that an error of the database is about, if it is about one. */
export function brokenConstraint(error: unknown): string | undefined {
  const isUniqueViolation = error instanceof Error && 'code' in error && error.code === '23505';
  if (!isUniqueViolation || !('constraint' in error)) return undefined;
  return typeof error.constraint === 'string' ? error.constraint : undefined;
}
