import { open } from 'node:fs/promises';
import { hasCode } from '../../src/errors.ts';

/** What GitHub gave for the App. The key and the secret are never shown. */
export interface MadeApp {
  id: number;
  slug: string;
  name: string;
  htmlUrl: string;
  pem: string;
  webhookSecret: string;
}

/** The lines of `.env` for an App that was made. */
export const envLines = (app: MadeApp, publicUrl: string, apiUrl: string | undefined): string =>
  [
    `# ${app.name.replace(/[^\w .-]/g, '')}, made by npm run setup`,
    `APP_ID=${app.id}`,
    `PRIVATE_KEY=${Buffer.from(app.pem).toString('base64')}`,
    `WEBHOOK_SECRET=${app.webhookSecret}`,
    `PUBLIC_URL=${publicUrl}`,
    ...(apiUrl === undefined ? [] : [`GITHUB_API_URL=${apiUrl}`]),
    '',
  ].join('\n');

/** Creates a file that only this user can read. False if it exists: nothing is overwritten. */
export async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}
