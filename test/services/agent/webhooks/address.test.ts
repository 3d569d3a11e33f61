import { describe, expect, test } from 'vitest';
import { isLoopback, networkOf } from '../../../../src/services/agent/webhooks/address.ts';

describe('the network of an address', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['223.255.255.255', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:81b::200e', 'public'],
    // Loopback.
    ['127.0.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['::1', 'private'],
    // Private networks.
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['100.127.255.255', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456:789a::1', 'private'],
    // Unspecified and broadcast.
    ['0.0.0.0', 'forbidden'],
    ['0.1.2.3', 'forbidden'],
    ['::', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['239.255.255.255', 'forbidden'],
    ['240.0.0.1', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['ff02::1', 'forbidden'],
    // Link-local, and cloud metadata services.
    ['169.254.0.1', 'forbidden'],
    ['169.254.169.254', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['168.63.129.16', 'forbidden'],
    ['192.0.0.192', 'forbidden'],
    ['fe80::1', 'forbidden'],
    ['fec0::1', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['fd20:ce::254', 'forbidden'],
    // Documentation and benchmarking.
    ['192.0.2.1', 'forbidden'],
    ['198.51.100.1', 'forbidden'],
    ['203.0.113.1', 'forbidden'],
    ['198.18.0.1', 'forbidden'],
    ['2001:db8::1', 'forbidden'],
    ['3fff::1', 'forbidden'],
    // Tunnels, which could lead anywhere.
    ['192.88.99.1', 'forbidden'],
    ['2001::1', 'forbidden'],
    ['2002:7f00:1::', 'forbidden'],
    // IPv4 addresses mapped into IPv6 are classified by the IPv4 address.
    ['::ffff:8.8.8.8', 'public'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:7f00:1', 'private'],
    ['::ffff:a00:1', 'private'],
    ['::ffff:169.254.169.254', 'forbidden'],
    ['::ffff:0:0', 'forbidden'],
    ['0:0:0:0:0:ffff:7f00:0001', 'private'],
    ['64:ff9b::808:808', 'public'],
    ['64:ff9b::7f00:1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'forbidden'],
    ['64:ff9b::', 'forbidden'],
    ['64:ff9b:1::808:808', 'forbidden'],
    ['::7f00:1', 'forbidden'],
    ['::127.0.0.1', 'forbidden'],
    // Not addresses.
    ['fe80::1%eth0', 'forbidden'],
    ['2606:4700:4700::1111%eth0', 'forbidden'],
    ['127.1', 'forbidden'],
    ['0x7f000001', 'forbidden'],
    ['localhost', 'forbidden'],
    ['', 'forbidden'],
  ] as const)('%s is %s', (address, network) => expect(networkOf(address)).toBe(network));
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['fc00::1', false],
] as const)('%s is loopback: %s', (address, own) => expect(isLoopback(address)).toBe(own));
