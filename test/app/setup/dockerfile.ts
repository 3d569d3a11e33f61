import * as z from 'zod';

/** What a Dockerfile says, as far as it can be run without an engine. */
export interface Dockerfile {
  from: string;
  /** Sources of every COPY, from the folder of the Dockerfile. */
  copied: readonly string[];
  env: Readonly<Record<string, string>>;
  user: string;
  cmd: readonly string[];
  healthcheck: readonly string[];
  stopSignal: NodeJS.Signals;
}

const command = z.array(z.string()).min(1);

/** Parses a single-stage Dockerfile with exec-form commands. */
export function readDockerfile(text: string): Dockerfile {
  const said = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
  const all = (instruction: string) => said.filter(([each]) => each === instruction).map(([, rest]) => rest);
  const one = (instruction: string) => {
    const [first = '', ...more] = all(instruction);
    if (first === '' || more.length > 0) throw new Error(`the Dockerfile has ${more.length + 1} ${instruction}`);
    return first;
  };
  return {
    from: one('FROM'),
    copied: all('COPY')
      .flatMap((rest) => rest.split(/\s+/).slice(0, -1))
      .map((path) => path.replace(/^\.\//, '')),
    env: Object.fromEntries(
      all('ENV').flatMap((rest) =>
        rest.split(/\s+/).map((pair) => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']),
      ),
    ),
    user: one('USER'),
    cmd: command.parse(JSON.parse(one('CMD'))),
    healthcheck: command.parse(JSON.parse(one('HEALTHCHECK').replace(/^.*?CMD /, ''))),
    stopSignal: z.literal('SIGTERM').parse(one('STOPSIGNAL')),
  };
}
