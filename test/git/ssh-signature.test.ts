import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseSigningKey } from '../../src/git/signing-key.ts'
import { checkSsh, signSsh } from '../../src/git/ssh-signature.ts'
import { temporaryFolder } from './git-program.ts'
import { makeKey, sshKeygen } from './ssh-keygen.ts'

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
  it('reads a recorded one, and whose it is', () => {
    const { publicKey, isRight } = checkSsh('git', hello, SIGNED_HELLO)
    expect(isRight).to.equal(true)
    expect(publicKey.fingerprint).to.equal('SHA256:09oRSvIi/Z/w5jSNUd23DgsTjQi8fWpQz1U8cYwcJ64')
  })

  it('are wrong for another message and another namespace', () => {
    expect(checkSsh('git', Buffer.from('hellO'), SIGNED_HELLO).isRight).to.equal(false)
    expect(checkSsh('file', hello, SIGNED_HELLO).isRight).to.equal(false)
  })

  it('are never right, and break nothing, with any bit of them flipped', () => {
    const [begin = '', ...rest] = SIGNED_HELLO.trimEnd().split('\n')
    const end = rest.pop() ?? ''
    const bytes = Buffer.from(rest.join(''), 'base64')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(rightness([begin, flipped.toString('base64'), end].join('\n')), `bit ${bit}`).not.to.equal(true)
    }
    for (let length = 0; length < bytes.length; length++) {
      const cut = [begin, bytes.subarray(0, length).toString('base64'), end].join('\n')
      expect(rightness(cut), `${length} bytes`).to.equal('is none')
    }
    for (const armour of ['', begin, `${SIGNED_HELLO}${SIGNED_HELLO}`, SIGNED_HELLO.replace('=', '*')]) {
      expect(rightness(armour), armour).to.equal('is none')
    }
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

  it('are read with SHA-256, too; those of other types of keys are not checked', () => {
    const folder = temporaryFolder()
    const { file } = makeKey(folder, 'key')
    const short = sshKeygen(['-Y', 'sign', '-q', '-f', file, '-n', 'git', '-O', 'hashalg=sha256'], hello)
    expect(checkSsh('git', hello, short).isRight).to.equal(true)
    const ecdsa = makeKey(folder, 'ecdsa', ['-t', 'ecdsa'])
    const { publicKey, isRight } = checkSsh(
      'git',
      hello,
      sshKeygen(['-Y', 'sign', '-q', '-f', ecdsa.file, '-n', 'git'], hello),
    )
    expect(isRight).to.equal(undefined)
    expect(publicKey.fingerprint).to.equal(ecdsa.fingerprint)
  })
})

/** Whether the text is a right signature of `hello`, or none at all. */
function rightness(armoured: string): boolean | undefined | string {
  try {
    return checkSsh('git', hello, armoured).isRight
  } catch (error) {
    expect(error).to.have.property('name', 'Unreadable')
    return 'is none'
  }
}
