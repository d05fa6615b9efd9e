import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { git, gitBytes, temporaryFolder } from '../../support/git/git-program.ts'
import type { Commit } from '../../../src/git/objects/object.ts'
import { encodeCommit, parseCommit } from '../../../src/git/objects/object.ts'
import { parseAllowedSigners } from '../../../src/git/signing/allowed-signers.ts'
import { signCommit, verifyCommit } from '../../../src/git/signing/commit-signature.ts'
import { parseSigningKey } from '../../../src/git/signing/signing-key.ts'
import type { KeyPair } from '../../support/git/ssh-keygen.ts'
import { makeKey, needsSshKeygen, sshKeygen } from '../../support/git/ssh-keygen.ts'

const ann = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const commit: Commit = { tree, parents: [], author: ann, committer: ann, message: 'First\n\nGrüße 🎉\n' }

describe('git: signed commits', () => {
  needsSshKeygen()
  let folder: string
  let key: KeyPair
  before(() => {
    folder = temporaryFolder()
    git(folder, ['init', '--quiet', '--bare', '.'])
    git(folder, ['hash-object', '-t', 'tree', '-w', '--stdin'], '')
    key = makeKey(folder, 'key')
    writeFileSync(`${folder}/allowed`, `ann ${key.publicLine}\n`)
  })

  const sign = (it: Commit) => signCommit(it, parseSigningKey(readFileSync(key.file, 'utf8')))
  const signed = (it: Commit) => encodeCommit(sign(it))
  const allowed = (options = '') => parseAllowedSigners(`ann ${options} ${key.publicLine}`)
  /** What git thinks of it: G, U, B or N, as in `%G?`. */
  const asGitSees = (bytes: Buffer) => {
    const oid = git(folder, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], bytes)
    const settings = ['-c', `gpg.ssh.allowedSignersFile=${folder}/allowed`]
    return git(folder, [...settings, 'log', '-1', '--format=%G?', oid])
  }

  it('are good to git, pass fsck --strict, and are byte for byte those of git commit -S', () => {
    const headers = [{ key: 'encoding', value: 'UTF-8' }]
    for (const each of [commit, { ...commit, headers }, { ...commit, message: '' }]) {
      const bytes = signed(each)
      expect(asGitSees(bytes)).to.equal('G')
      expect(verifyCommit(bytes, allowed())).to.deep.equal({ status: 'good', key: key.fingerprint })
    }
    expect(git(folder, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key.file}`]
    const oid = git(folder, [...settings, 'commit-tree', '-S', '-m', 'By git', tree])
    const theirs = gitBytes(folder, ['cat-file', 'commit', oid])
    const { headers: _, ...unsigned } = parseCommit(theirs)
    expect(signed(unsigned).equals(theirs)).to.equal(true)
  })

  it('are bad with another message, author, tree or parent, and with a signature that is broken or there twice', () => {
    const { headers = [] } = sign(commit)
    const other = '1'.repeat(40)
    const changed: readonly Commit[] = [
      { ...commit, message: 'Second\n' },
      { ...commit, author: { ...ann, name: 'Bo' } },
      { ...commit, committer: { ...ann, seconds: 1_700_000_001 } },
      { ...commit, parents: [other] },
      { ...commit, tree: other },
      { ...commit, headers: [{ key: 'encoding', value: 'latin1' }] },
    ]
    for (const it of changed) {
      const bytes = encodeCommit({ ...it, headers: [...(it.headers ?? []), ...headers] })
      expect(verifyCommit(bytes, allowed())).to.deep.equal({ status: 'bad', key: key.fingerprint })
    }
    const twice = encodeCommit({ ...commit, headers: [...headers, ...headers] })
    expect(verifyCommit(twice, allowed())).to.deep.equal({ status: 'bad' })
    const cut = headers.map((header) => ({ ...header, value: header.value.slice(0, 100) }))
    expect(verifyCommit(encodeCommit({ ...commit, headers: cut }), allowed())).to.deep.equal({
      status: 'bad',
    })
  })

  it('are what git says they are, in bytes that are no UTF-8 and with signatures of other hashes beside them', () => {
    const latin = Buffer.from(
      encodeCommit({ ...commit, message: 'Gr\xfc\xdfe\n' }).toString('utf8'),
      'latin1',
    )
    const byKeygen = sshKeygen(['-Y', 'sign', '-q', '-f', key.file, '-n', 'git'], latin)
    const header = (name: string, value: string) => `${name} ${value.trimEnd().replaceAll('\n', '\n ')}\n`
    const withHeaders = (text: string) => {
      const end = latin.indexOf('\n\n') + 1
      return Buffer.concat([latin.subarray(0, end), Buffer.from(text), latin.subarray(end)])
    }
    const status = { G: 'good', B: 'bad', N: 'none' } as const
    for (const [headers, expected] of [
      ['', 'N'],
      [header('gpgsig', byKeygen), 'G'],
      [header('gpgsig', byKeygen) + header('gpgsig-sha256', byKeygen), 'G'],
      [header('gpgsig-sha256', byKeygen) + header('gpgsig', byKeygen), 'G'],
      [header('gpgsig-sha256', byKeygen), 'N'],
      [header('x', 'y\rgpgsig z') + header('gpgsig', byKeygen), 'B'],
    ] as const) {
      const bytes = withHeaders(headers)
      expect(asGitSees(bytes), headers).to.equal(expected)
      expect(verifyCommit(bytes, allowed()).status, headers).to.equal(status[expected])
    }
  })

  it('are of an unknown key when it is not allowed, not for git, or not at that time', () => {
    const bytes = signed(commit)
    const other = makeKey(folder, 'other')
    const unknown = { status: 'unknown_key', key: key.fingerprint }
    expect(verifyCommit(bytes, [])).to.deep.equal(unknown)
    expect(verifyCommit(bytes, parseAllowedSigners(`ann ${other.publicLine}`))).to.deep.equal(unknown)
    for (const [options, expected] of [
      ['namespaces="file"', 'unknown_key'],
      ['valid-before="20231114000000Z"', 'unknown_key'],
      ['valid-before="20231115000000Z"', 'good'],
      ['valid-after="20231115000000Z"', 'unknown_key'],
      ['valid-after="20231114000000Z"', 'good'],
    ] as const) {
      expect(verifyCommit(bytes, allowed(options)).status, options).to.equal(expected)
    }
  })

  it('are of an unknown key when they are OpenPGP', () => {
    const pgp = '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n'
    const bytes = encodeCommit({ ...commit, headers: [{ key: 'gpgsig', value: pgp }] })
    expect(verifyCommit(bytes, allowed())).to.deep.equal({ status: 'unknown_key' })
  })

  for (const [type, ...more] of [['rsa', '-b', '2048'], ['ecdsa']] as const) {
    it(`are good by keys of type ${type} that are allowed`, () => {
      const theirs = makeKey(folder, type, ['-t', type, ...more])
      const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${theirs.file}`]
      const oid = git(folder, [...settings, 'commit-tree', '-S', '-m', 'By git', tree])
      const bytes = gitBytes(folder, ['cat-file', 'commit', oid])
      const signers = parseAllowedSigners(`bo ${theirs.publicLine}`)
      expect(verifyCommit(bytes, signers)).to.deep.equal({ status: 'good', key: theirs.fingerprint })
      expect(verifyCommit(bytes, allowed()).status).to.equal('unknown_key')
    })
  }
})
