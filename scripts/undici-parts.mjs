// The parts of undici that the Action's bundle uses. Its main module loads mocks, caches, WebSocket and more, and
// @actions/http-client depends on its own version. The bundle uses this one for all importers (rolldown.config.ts).
import connect from 'undici/lib/api/api-connect.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// As undici's main module does. Our client dispatches by itself; a proxy is asked to connect.
Object.assign(Dispatcher.prototype, { connect });

export { EnvHttpProxyAgent, Pool, ProxyAgent };
