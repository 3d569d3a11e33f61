// The parts of undici that the Action's bundle uses. Its main module loads mocks, caches, WebSocket and more, and
// @actions/http-client depends on its own version. The bundle uses this one for all importers (rolldown.config.ts).
import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// As undici's main module does: request() and the like are methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

export { EnvHttpProxyAgent, Pool, ProxyAgent };
