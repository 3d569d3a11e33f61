// In the place of the channels of undici (rolldown.config.ts), which tell a debugger of connections and requests: in a
// runner nobody listens.
module.exports = { channels: new Proxy({}, { get: () => ({ hasSubscribers: false }) }) };
