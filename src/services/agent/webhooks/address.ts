import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** `private`: this machine or the operator's network; `forbidden`: no receivers, or metadata services of clouds. */
export type Network = 'public' | 'private' | 'forbidden';

/** Whether an address is in one of the subnets, in CIDR notation. */
function listOf(family: 'ipv4' | 'ipv6', subnets: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const [network = '', prefix] of subnets.map((subnet) => subnet.split('/')))
    list.addSubnet(network, Number(prefix), family);
  return (address) => list.check(address, family);
}

/** This machine, networks behind a router (RFC 1918), and those of carriers (RFC 6598). */
const isPrivate4 = listOf('ipv4', ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']);

/** Unspecified, link-local, assignments, documentation, benchmarks, multicast, reserved. */
const isForbidden4 = listOf('ipv4', [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/** This machine, and unique local addresses. */
const isPrivate6 = listOf('ipv6', ['::1/128', 'fc00::/7']);

/** A cloud's metadata service among the unique local ones; assignments, documentation and tunnels among the global ones. */
const isForbidden6 = listOf('ipv6', [
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

const isGlobal6 = listOf('ipv6', ['2000::/3']);
/** IPv6 forms of IPv4 addresses: mapped, or translated (RFC 6052). */
const standsFor4 = listOf('ipv6', ['::ffff:0:0/96', '64:ff9b::/96']);

/** Classifies an address without brackets. Invalid addresses and those with a zone are forbidden. */
export function networkOf(address: string): Network {
  if (isIPv4(address)) return isForbidden4(address) ? 'forbidden' : isPrivate4(address) ? 'private' : 'public';
  if (!isIPv6(address) || address.includes('%')) return 'forbidden';
  if (standsFor4(address)) return networkOf(lastAs4(address));
  if (isForbidden6(address)) return 'forbidden';
  if (isPrivate6(address)) return 'private';
  // Only globally assigned addresses: any other is reserved, link-local or multicast.
  return isGlobal6(address) ? 'public' : 'forbidden';
}

export function isLoopback(address: string): boolean {
  if (isIPv6(address) && standsFor4(address)) return isLoopback(lastAs4(address));
  return isIPv4(address) ? address.startsWith('127.') : address === '::1';
}

/** The last 32 bits of an IPv6 address, in IPv4's spelling. */
function lastAs4(address: string): string {
  // The canonical form ends with two groups of hexadecimal digits, or with `::` and one, or with nothing.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high, low] = [groups.at(-2), groups.at(-1)].map((group) => Number.parseInt(group || '0', 16));
  return [high ?? 0, low ?? 0].flatMap((pair) => [pair >> 8, pair & 0xff]).join('.');
}
