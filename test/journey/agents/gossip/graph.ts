import { Annotation, StateGraph } from '@langchain/langgraph';

const secrets = Object.entries(process.env).filter(([name]) => name.startsWith('CANARY'));

/** Every way in which a careless program writes a value. */
const written = secrets.flatMap(([name, value = '']) => [
  `${name}=${value}`,
  JSON.stringify({ [name]: value }),
  JSON.stringify(JSON.stringify({ [name]: value })),
  encodeURIComponent(value),
  Buffer.from(value).toString('base64'),
  Buffer.from(value).toString('base64url'),
  `\u001b[31m${value}\u001b[0m`,
  `${'.'.repeat(3_990)}${value}`,
  `${'.'.repeat(16_370)}${value}`,
]);

function gossip(): void {
  for (const text of written) {
    console.log(text);
    console.error(text);
  }
  console.log(process.env);
  console.error(new Error('no luck', { cause: written.join(' ') }));
}

gossip();
const atStart = 'nothing';
if (atStart !== 'nothing') throw new Error(`cannot start with ${written.join(' ')}`);

const State = Annotation.Root({
  input: Annotation<string>,
  said: Annotation<string>,
  [`told ${process.env['CANARY']}`]: Annotation<string[]>,
});

/** Tells its secrets to its log, its users and whoever catches its errors. */
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => {
    gossip();
    void Promise.reject(new Error(`forgotten: ${written.join(' ')}`));
    if (input === 'fail') throw new Error(`failed with ${written.join(' ')}`);
    return { said: `${'.'.repeat(150)}${written.join(' ')}`, [`told ${process.env['CANARY']}`]: written };
  })
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
