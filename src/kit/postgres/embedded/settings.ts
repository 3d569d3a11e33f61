/** Where a server listens: at a port of the loopback, or at a socket in a folder that is closed to others. */
export type ServerAddress = { port: number } | { socketFolder: string };

/** The number in the name of the socket's file. */
export const socketPort = 5432;

/** Connections that a server behind a socket gives out, and how many of them are not for agents. */
const socketConnections = 300;
const reservedForService = 50;

/** What all agents together may hold of a server behind a socket. */
export const placesForAgents = socketConnections - reservedForService;

/** What containers, which share one way, may hold of these. */
export const placesForContainers = 150;

/** The settings of an embedded server, by name. */
export function serverSettings(address: ServerAddress): Record<string, string> {
  return {
    ...('port' in address
      ? {
          listen_addresses: '127.0.0.1',
          port: String(address.port),
          unix_socket_directories: '',
          max_connections: '100',
        }
      : {
          listen_addresses: '',
          port: String(socketPort),
          unix_socket_directories: address.socketFolder,
          unix_socket_permissions: '0770',
          max_connections: String(socketConnections),
        }),
    // A connection that does not log in holds one of the server's places until then. The default is a minute.
    authentication_timeout: '10s',
    // A query whose client is gone holds its connection no longer than this.
    client_connection_check_interval: '1s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A statement or the details of an error can hold a secret; the log is no place for one.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  };
}
