import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

/** Rules of access by which everybody has what they made. They count where a configuration names them. */
export const auth = new Auth()
  .authenticate(async (request) => {
    const name = request.headers.get('x-user');
    if (!name) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: name, permissions: [] };
  })
  .on('threads', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('threads:create', ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('store', () => false);
