import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { nodeEnvironment } from '../../node-environment.ts';
import { newPrivateKey } from '../settings/keys.ts';
import { secret } from './intake.ts';

const privateKey = newPrivateKey();

/** Settings that are enough to start; its two services do not respond. */
export const enough = {
  APP_ID: '1',
  PRIVATE_KEY: Buffer.from(privateKey).toString('base64'),
  WEBHOOK_SECRET: secret,
  GITHUB_API_URL: 'http://127.0.0.1:9',
  LANDFALL_BASE_URL: 'http://127.0.0.1:9',
  LANDFALL_API_KEY: 'key-of-the-service',
  PORT: '0',
};

/** A folder that is removed with the test. As root the database's server runs as another user, who has to get in. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-app-'), { encoding: 'utf8' });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** `npm start`, without npm, in an empty folder. */
export function startApp(env: Record<string, string>, folder = temporaryFolder()) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../../app/main.ts')], {
    cwd: folder,
    env: { ...nodeEnvironment(), HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => void (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (said.err += chunk.toString()));
  const ended = once(child, 'close').then(([code]: unknown[]) => code);
  const listening = async (): Promise<string> => {
    for (;;) {
      const url = /The App listens at (\S+)/.exec(said.out)?.[1];
      if (url) return url;
      const gone = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 25, 'alive'))]);
      if (gone !== 'alive') throw new Error(`The App ended: ${said.err}${said.out}`);
    }
  };
  return { child, said, ended, listening };
}
