import { maskOf, type Mask } from '../../contract/masking/mask.ts';

/** How variables with secrets are named: their last word says what they hold. */
const secretName = /(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|_PWD|CREDENTIALS?|DSN)$/i;

/** A mask of the secrets of an environment, by the names of variables; and of addresses with a password. */
export const secretsIn = (env: Readonly<Record<string, string | undefined>>): Mask =>
  maskOf(
    Object.entries(env).flatMap(([name, value]) => {
      if (value === undefined || value === '') return [];
      const password = passwordIn(value);
      if (password !== '') return [value, password];
      return secretName.test(name) ? [value] : [];
    }),
  );

function passwordIn(address: string): string {
  const written = URL.parse(address)?.password ?? '';
  try {
    return decodeURIComponent(written);
  } catch {
    // A percent sign that encodes nothing.
    return written;
  }
}
