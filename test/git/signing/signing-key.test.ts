import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseSigningKey } from '../../../src/git/signing/signing-key.ts'
import { temporaryFolder } from '../../support/git/git-program.ts'
import { makeKey, needsSshKeygen } from '../../support/git/ssh-keygen.ts'

describe('git: signing keys', () => {
  needsSshKeygen()
  let folder: string
  before(() => (folder = temporaryFolder()))

  it('are read as ssh-keygen writes them', () => {
    // Comments of several lengths give the private part each padding.
    for (let length = 0; length < 8; length++) {
      const { file, fingerprint } = makeKey(folder, `key${length}`, [
        '-t',
        'ed25519',
        '-C',
        'x'.repeat(length),
      ])
      const text = readFileSync(file, 'utf8')
      for (const each of [text, text.replaceAll('\n', '\r\n')]) {
        expect(parseSigningKey(each).publicKey.fingerprint).to.equal(fingerprint)
      }
    }
  })

  it('are read from PKCS#8, and are the same key then', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const { publicKey } = parseSigningKey(pem)
    const { x = '' } = privateKey.export({ format: 'jwk' })
    expect(publicKey.blob.subarray(-32).equals(Buffer.from(x, 'base64url'))).to.equal(true)
  })

  const encrypted = () =>
    generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString()
  const rsa = () =>
    generateKeyPairSync('rsa', { modulusLength: 1024 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString()
  const made = (name: string, ...more: string[]) => makeKey(folder, name, more).file
  const damaged = (change: (bytes: Buffer) => void) => {
    const text = readFileSync(made(`damaged${Math.random()}`, '-t', 'ed25519'), 'utf8')
    const bytes = Buffer.from(text.replaceAll(/-----.*-----/g, ''), 'base64')
    change(bytes)
    return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`
  }

  for (const [what, text, answer] of [
    [
      'a passphrase',
      () => readFileSync(made('locked', '-t', 'ed25519', '-N', 'secret'), 'utf8'),
      'ssh-keygen -p',
    ],
    ['a passphrase on PKCS#8', encrypted, 'ssh-keygen -p'],
    ['another type', () => readFileSync(made('ecdsa', '-t', 'ecdsa'), 'utf8'), 'type ecdsa-sha2-nistp256'],
    ['another type in PKCS#8', rsa, 'type rsa'],
    ['a public key', () => readFileSync(`${made('public', '-t', 'ed25519')}.pub`, 'utf8'), 'is a public key'],
    ['an empty file', () => '', 'is no private key'],
    ['any text', () => 'hello', 'is no private key'],
    ['a wrong magic', () => damaged((bytes) => bytes.write('X')), 'does not begin as a key'],
    ['two keys', () => damaged((bytes) => bytes.writeUInt32BE(2, 35)), '2 keys'],
    ['check numbers that differ', () => damaged((bytes) => bytes.writeUInt32BE(1, 98)), 'check numbers'],
    ['halves that do not match', () => damaged((bytes) => bytes.fill(1, 161, 193)), 'do not match'],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => parseSigningKey(text()))
        .to.throw(answer)
        .with.property('name', 'Unreadable')
    })
  }

  it('refuses a file that is cut off anywhere', () => {
    const text = readFileSync(made('cut', '-t', 'ed25519'), 'utf8')
    const bytes = Buffer.from(text.replaceAll(/-----.*-----/g, ''), 'base64')
    for (let length = 1; length < bytes.length; length += 3) {
      const cut = bytes.subarray(0, length).toString('base64')
      const armoured = `-----BEGIN OPENSSH PRIVATE KEY-----\n${cut}\n-----END OPENSSH PRIVATE KEY-----\n`
      expect(() => parseSigningKey(armoured), `${length} bytes`)
        .to.throw()
        .with.property('name', 'Unreadable')
    }
  })
})
