import { expect } from 'chai'
import { isPublicAddress } from '../../../src/feeds/outgoing/public-address.ts'

describe('public addresses', () => {
  const inside = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'localhost',
    '',
  ]
  for (const address of inside)
    it(`"${address}" is none`, () => expect(isPublicAddress(address)).to.equal(false))

  for (const address of [
    '1.1.1.1',
    '172.32.0.1',
    '193.99.144.80',
    '::ffff:1.1.1.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])
    it(`${address} is one`, () => expect(isPublicAddress(address)).to.equal(true))
})
