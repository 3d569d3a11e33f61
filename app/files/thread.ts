// The thread that reads files of repositories, so that none of them keeps the App from its other work.
import { parentPort } from 'node:worker_threads';
import { stackOf } from '../../src/errors.ts';
import { readHere, type FileReader } from './readers.ts';

/** A request to the thread. */
export type Question = {
  [Name in keyof FileReader]: { name: Name; argument: Parameters<FileReader[Name]>[0] };
}[keyof FileReader];

/** What it answers: that it has started, and then the value as JSON, why there is none, or that it is too large. */
export type Answer =
  { kind: 'started' } | { kind: 'read'; json: string } | { kind: 'failed'; stack: string } | { kind: 'too-large' };

/** The longest response (characters): parsing it blocks the main thread. */
const longestAnswer = 1_000_000;

function read(question: Question): Promise<unknown> {
  switch (question.name) {
    case 'graphConfigPaths':
      return readHere.graphConfigPaths(question.argument);
    case 'validate':
      return readHere.validate(question.argument);
    case 'readDeployFile':
      return readHere.readDeployFile(question.argument);
  }
}

async function answer(question: Question): Promise<Answer> {
  try {
    const json = JSON.stringify(await read(question));
    return json.length > longestAnswer ? { kind: 'too-large' } : { kind: 'read', json };
  } catch (error) {
    return { kind: 'failed', stack: stackOf(error) };
  }
}

parentPort?.on('message', (question: Question) => {
  void answer(question).then((answered) => parentPort?.postMessage(answered, []));
});
parentPort?.postMessage({ kind: 'started' } satisfies Answer, []);
