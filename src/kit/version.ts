/** The version of this package, sent with its requests; a test compares it with package.json. */
export const version = '0.1.0';
