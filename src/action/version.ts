/** The version of this package, as its requests tell it; a test holds it to package.json. */
export const version = '0.1.0';
