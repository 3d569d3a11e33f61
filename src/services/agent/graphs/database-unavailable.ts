/** The database is unavailable. Hides the driver's message, which contains the address. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super('The database is unavailable.', { cause });
  }
}
