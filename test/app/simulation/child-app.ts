import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ProcessFixture } from './process-fixture.ts';

/** A child process that is the App. */
export interface ChildApp {
  /** Where it takes webhooks. */
  url: string;
  /** Resolves when it has ended, with the signal that ended it. */
  ended: Promise<NodeJS.Signals | null>;
  /** What it wrote, for a person who looks for the cause. */
  written: string[];
  stop(): Promise<void>;
}

/** Starts the App as a process of its own, and waits until it listens. */
export async function startChildApp(fixture: ProcessFixture): Promise<ChildApp> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'app-process.ts'), JSON.stringify(fixture)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  const ended = once(child, 'exit').then(() => child.signalCode);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\n').filter(Boolean)) {
        written.push(line);
        const listens = /^listens at (\S+)/.exec(line)?.[1];
        if (listens) resolve(listens);
      }
    });
    child.stderr.on('data', (chunk: Buffer) => written.push(chunk.toString()));
    void ended.then(() => reject(new Error(`The App did not start: ${written.join('\n')}`)));
  });
  return { url, ended, written, stop: () => stop(child, ended) };
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await ended;
}

/** A webhook as GitHub sends it. @returns whether it was acknowledged. */
export async function sendWebhook(
  url: string,
  secret: string,
  { guid, event, payload }: { guid: string; event: string; payload: object },
): Promise<boolean> {
  const body = JSON.stringify(payload);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': guid,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  try {
    return (await fetch(url, { method: 'POST', headers, body })).status === 202;
  } catch (error) {
    // The process was killed before it answered.
    if (error instanceof TypeError) return false;
    throw error;
  }
}
