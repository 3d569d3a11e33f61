import { Annotation, StateGraph } from '@langchain/langgraph';

/** Where somebody who shortens a text might cut it. */
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

/** Writes all of it to the log. */
function gossip(): void {
  for (const text of written) {
    console.log(text);
    console.error(text);
  }
  console.log(process.env);
  console.error(new Error('no luck', { cause: written.slice(0, 7) }));
}

gossip();
/** What a commit changes. */
const atStart: string = 'nothing';
if (atStart === 'throw') throw new Error(`cannot start with ${written[0]}`);

const State = Annotation.Root({ input: Annotation<string>, said: Annotation<string> });

/** Answers with what it should keep to itself, or fails with it: `tell 3`, `fail 3`; it knows how many there are. */
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
