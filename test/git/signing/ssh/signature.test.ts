import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parseSigningKey } from '../../../../src/git/signing/signing-key.ts'
import { checkSsh, signSsh } from '../../../../src/git/signing/ssh/signature.ts'
import { sshStrings } from '../../../../src/git/signing/ssh/wire.ts'
import { temporaryFolder } from '../../../support/git/git-program.ts'
import { makeKey, sshKeygen, needsSshKeygen } from '../../../support/git/ssh-keygen.ts'

/** What OpenSSH 9.2 wrote for the message `hello` with a key that is gone: `ssh-keygen -Y sign -n git`. */
const SIGNED_HELLO = `-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgPojZBCQeJk7s4taco39JZV17CL
cpOrPB9Pyw43Atm8IAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5
AAAAQLCtI0VuYItA9FZe6nr0nabAXL41O6tM1r5f1Ss/asvlOlfpiUfYIKNuVRRryHJMbz
w2Ns4yHUcaSzqiuPwcnQo=
-----END SSH SIGNATURE-----
`
const hello = Buffer.from('hello')

describe('git: SSH signatures', () => {
  needsSshKeygen()
  it('reads a recorded one, and whose it is', () => {
    const { publicKey, isRight } = checkSsh('git', hello, SIGNED_HELLO)
    expect(isRight).to.equal(true)
    expect(publicKey.fingerprint).to.equal('SHA256:09oRSvIi/Z/w5jSNUd23DgsTjQi8fWpQz1U8cYwcJ64')
  })

  it('are wrong for another message and another namespace', () => {
    expect(checkSsh('git', Buffer.from('hellO'), SIGNED_HELLO).isRight).to.equal(false)
    expect(checkSsh('file', hello, SIGNED_HELLO).isRight).to.equal(false)
  })

  for (const type of ['ed25519', 'rsa-2048', 'ecdsa-256', 'ecdsa-384', 'ecdsa-521']) {
    it(`of ${type} are right, and never with a bit flipped or an end cut off, which breaks nothing`, () => {
      const armoured = signedBy(type)
      expect(checkSsh('git', hello, armoured).isRight).to.equal(true)
      const [begin = '', ...rest] = armoured.trimEnd().split('\n')
      const end = rest.pop() ?? ''
      const bytes = Buffer.from(rest.join(''), 'base64')
      const rightWith = (changed: Buffer) => rightness([begin, changed.toString('base64'), end].join('\n'))
      for (let at = 0; at < bytes.length; at++) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
        expect(rightWith(flipped), `byte ${at}`).to.be.oneOf([false, undefined, 'is none'])
      }
      for (let length = 0; length < bytes.length; length++)
        expect(rightWith(bytes.subarray(0, length)), `${length} bytes`).to.equal('is none')
      expect(rightWith(Buffer.concat([bytes, Buffer.alloc(1)])), 'one byte more').to.equal('is none')
    })
  }

  it('are none in armour that is not whole', () => {
    const [begin = ''] = SIGNED_HELLO.split('\n')
    for (const armour of ['', begin, `${SIGNED_HELLO}${SIGNED_HELLO}`, SIGNED_HELLO.replace('=', '*')])
      expect(rightness(armour), armour).to.equal('is none')
  })

  it('are byte for byte those of ssh-keygen, which finds them right', () => {
    const folder = temporaryFolder()
    const { file, publicLine } = makeKey(folder, 'key')
    const key = parseSigningKey(readFileSync(file, 'utf8'))
    writeFileSync(`${folder}/allowed`, `me ${publicLine}\n`)
    for (const message of [
      Buffer.alloc(0),
      hello,
      Buffer.from('ünï\n\0\xff', 'latin1'),
      Buffer.alloc(70_000, 7),
    ]) {
      const ours = signSsh('git', message, key)
      expect(`${ours}\n`).to.equal(sshKeygen(['-Y', 'sign', '-q', '-f', file, '-n', 'git'], message))
      expect(checkSsh('git', message, ours).isRight).to.equal(true)
      writeFileSync(`${folder}/signature`, ours)
      const verify = [
        '-Y',
        'verify',
        '-f',
        `${folder}/allowed`,
        '-I',
        'me',
        '-n',
        'git',
        '-s',
        `${folder}/signature`,
      ]
      expect(sshKeygen(verify, message)).to.contain('Good "git" signature for me')
    }
  })

  it('are read with SHA-256, too', () => {
    const { file } = makeKey(temporaryFolder(), 'key')
    const short = sshKeygen(['-Y', 'sign', '-q', '-f', file, '-n', 'git', '-O', 'hashalg=sha256'], hello)
    expect(checkSsh('git', hello, short).isRight).to.equal(true)
  })

  it('of a type of key that is not checked are neither right nor wrong', () => {
    const blob = sshStrings('sk-ssh-ed25519@openssh.com', Buffer.alloc(32), 'ssh:')
    const signature = sshStrings('sk-ssh-ed25519@openssh.com', Buffer.alloc(64))
    const bytes = Buffer.concat([
      Buffer.from('SSHSIG\0\0\0\x01'),
      sshStrings(blob, 'git', '', 'sha512', signature),
    ])
    const armoured = `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----`
    expect(rightness(armoured)).to.equal(undefined)
  })
})

/** `hello`, signed by ssh-keygen with a new key of a type and perhaps a size. */
function signedBy(kind: string): string {
  const [type = '', bits] = kind.split('-')
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-key-'))
  try {
    const { file } = makeKey(folder, 'key', ['-t', type, ...(bits === undefined ? [] : ['-b', bits])])
    return sshKeygen(['-Y', 'sign', '-q', '-f', file, '-n', 'git'], hello)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Whether the text is a right signature of `hello`, or none at all. */
function rightness(armoured: string): boolean | undefined | string {
  try {
    return checkSsh('git', hello, armoured).isRight
  } catch (error) {
    expect(error).to.have.property('name', 'Unreadable')
    return 'is none'
  }
}
