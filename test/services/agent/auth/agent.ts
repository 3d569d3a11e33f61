/** An agent whose access rules limit users to their own resources. */
export const files = {
  'langgraph.json': {
    graphs: { who: './graph.ts:who' },
    auth: { path: './auth.ts:auth' },
  },
  'graph.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ said: Annotation<string>, gate: Annotation<string> });
    export const who = new StateGraph(State)
      .addNode('reply', async ({ gate }, { configurable, signal }) => {
        if (gate) await fetch(gate, { signal });
        const { langgraph_auth_user: user, langgraph_auth_user_id: id, langgraph_auth_permissions: may } = configurable;
        return { said: [user?.display_name, user?.mood, user?.token, id, may?.join('+')].join(' ') };
      })
      .addEdge('__start__', 'reply')
      .addEdge('reply', '__end__')
      .compile();`,
  'auth.ts': `
    import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

    const own = ({ value, user }: any) => {
      if (isStudio(user)) return true;
      value.metadata = { ...value.metadata, owner: user.identity };
      return { owner: user.identity };
    };
    const isStudio = (user: any) => user.kind === 'StudioUser';

    export const auth = new Auth()
      .authenticate(async (request) => {
        const name = request.headers.get('x-user');
        if (!name) throw new HTTPException(401, { message: 'Who are you?', headers: { 'www-authenticate': 'Name' } });
        if (name === 'broken') throw new Error('an internal reason');
        const token = request.headers.get('x-landfall-agent-token') ?? 'no-token';
        if (name === 'reader') await request.text();
        return { identity: name, display_name: name.toUpperCase(), mood: 'calm', token, permissions: ['see', 'do'] };
      })
      .on('*', own)
      .on('assistants:delete', ({ user }: any) => user.identity === 'remover' && { owner: 'remover' })
      .on('assistants:update', ({ user }: any) => {
        throw new HTTPException(409, { message: user.identity + ' may change nothing today' });
      })
      .on('store', ({ value, user, action }: any) => {
        if (user.identity === 'odd') return { owner: 'odd' };
        if (user.identity === 'banned') return false;
        value.namespace = [user.identity, ...(value.namespace ?? [])];
        return true;
      });`,
};
