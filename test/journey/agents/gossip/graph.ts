import { Annotation, StateGraph } from '@langchain/langgraph';

/** Lengths at which a text may be truncated. */
const cuts = [30, 190, 490, 790, 1_990, 3_990, 16_370];

/** Every way in which a careless program writes a value. */
const written = Object.entries(process.env)
  .filter(([name]) => name.startsWith('CANARY'))
  .flatMap(([name, value = '']) => [
    `${name}=${value}`,
    JSON.stringify({ [name]: value }),
    JSON.stringify(JSON.stringify({ [name]: value })),
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('base64url'),
    `\u001b[31m${value}\u001b[0m`,
    ...cuts.map((characters) => `${'.'.repeat(characters)}${value}`),
  ]);

/** Logs all of it. */
function gossip(): void {
  for (const text of written) {
    console.log(text);
    console.error(text);
  }
  console.log(process.env);
  console.error(new Error('no luck', { cause: written.slice(0, 7) }));
}

gossip();
/** Changed by a commit. */
const atStart: string = 'nothing';
if (atStart === 'throw') throw new Error(`cannot start with ${written[0]}`);

const State = Annotation.Root({ input: Annotation<string>, said: Annotation<string> });

/** Returns or throws one of the written values: `say 3`, `fail 3`. Returns their count for an unknown number. */
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => {
    const [request, number] = input.split(' ');
    const said = written[Number(number)] ?? String(written.length);
    if (request === 'gossip') {
      gossip();
      void Promise.reject(new Error(`forgotten: ${said}`));
    }
    if (request === 'fail') throw new Error(said);
    return { said };
  })
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
