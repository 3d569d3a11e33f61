// In the place of what of undici our client never reaches (rolldown.config.ts): HTTP/2, for it keeps to HTTP/1.1
// everywhere, SOCKS, for it refuses every proxy that does not speak HTTP, and forms, for it sends JSON and archives.
module.exports = function leftOut() {
  throw new Error('this part of undici is not in the bundle');
};
