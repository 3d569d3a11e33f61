// src/action/version.ts
/** The version of this package, as its requests tell it; a test holds it to package.json. */
const version = "0.1.0";
export { version as t };
