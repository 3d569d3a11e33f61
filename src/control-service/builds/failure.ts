/** Says that a command of the build failed, and how. */
export const failure = (what: string, { how, said }: { how: string; said: string | undefined }): string =>
  said === undefined ? `${what} failed: ${ended(how)}` : `${what} failed: ${ended(how)} It said: ${said}`;

/** As a sentence. */
const ended = (how: string): string => (how.endsWith('.') ? how : `${how}.`);
