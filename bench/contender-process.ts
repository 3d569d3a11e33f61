import { fork } from 'node:child_process';
import * as z from 'zod';
import type { Contender } from './rounds.ts';

/** Contenders by name. Each prepares in its own process, and measures a round on request. */
export type Contenders = Readonly<Record<string, (...given: string[]) => Promise<Contender> | Contender>>;

const Reply = z.union([z.object({ ready: z.literal(true) }), z.object({ value: z.number() })]);

/** A contender in a process of its own. */
export interface ContenderProcess extends Contender, AsyncDisposable {}

/**
 * Starts `file` as a contender of this name, in a process of its own: no garbage and no compiled code of another
 * contender counts for it. `given` are words for it, an address for example.
 */
export async function startContender(file: string, name: string, ...given: string[]): Promise<ContenderProcess> {
  const child = fork(file, [name, ...given], { stdio: ['ignore', 2, 'inherit', 'ipc'] });
  const next = () =>
    new Promise<z.infer<typeof Reply>>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the contender "${name}" of ${file} ended with ${code}`));
      child.once('exit', ended);
      child.once('error', reject);
      child.once('message', (message) => {
        child.off('exit', ended).off('error', reject);
        resolve(Reply.parse(message));
      });
    });
  await next();
  return {
    round: async () => {
      const notes = next();
      child.send('round');
      const answer = await notes;
      if (!('value' in answer)) throw new Error(`the contender "${name}" of ${file} returned no value`);
      return answer.value;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** The child process's side: call it from the file's entry point. The process exits with its parent. */
export async function contend(contenders: Contenders): Promise<void> {
  const [name = '', ...given] = process.argv.slice(2);
  const prepare = contenders[name];
  if (!prepare || !process.send) throw new Error(`no contender "${name}", or no parent process`);
  process.on('disconnect', () => process.exit());
  const contender = await prepare(...given);
  process.on('message', () => {
    void contender.round().then((value) => process.send?.({ value }));
  });
  process.send({ ready: true });
}

/** CPU time of this process that `work` takes, for each of its `times` parts (microseconds, user and system). */
export async function cpuEach(times: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
