import { expect } from 'chai'
import { git, gitBytes, repositoryWithHistory } from '../../support/git/git-program.ts'
import {
  type Commit,
  encodeCommit,
  firstParent,
  parseCommit,
  hashObject,
} from '../../../src/git/objects/object.ts'

const ann = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const commit: Commit = { tree, parents: [], author: ann, committer: ann, message: 'First\n' }

describe('git: commits', () => {
  it('encodes what git encodes, and reads it back', () => {
    const folder = repositoryWithHistory(1)
    git(folder, ['hash-object', '-t', 'tree', '-w', '--stdin'], '')
    const theirs = git(folder, ['rev-parse', 'main'])
    const full: Commit = {
      ...commit,
      parents: [theirs],
      author: { ...ann, name: 'Ünï Code', timezone: '-0330' },
      committer: { ...ann, email: '' },
      message: 'Subject 🎉\n\nBody without a last line break',
      headers: [
        { key: 'encoding', value: 'UTF-8' },
        { key: 'gpgsig', value: '-----BEGIN\n\nabc\n-----END' },
      ],
    }
    for (const each of [commit, full, { ...commit, message: '' }]) {
      const bytes = encodeCommit(each)
      expect(parseCommit(bytes)).to.deep.equal(each)
      const oid = git(folder, ['hash-object', '-t', 'commit', '-w', '--stdin'], bytes)
      expect(oid).to.equal(hashObject('commit', bytes))
      git(folder, ['update-ref', `refs/heads/${oid}`, oid])
    }
    git(folder, ['fsck', '--strict'])
  })

  it('encodes every commit of a repository to its own bytes again', () => {
    const folder = repositoryWithHistory(3)
    for (const oid of git(folder, ['rev-list', 'main']).split('\n')) {
      const bytes = gitBytes(folder, ['cat-file', 'commit', oid])
      expect(encodeCommit(parseCommit(bytes)).equals(bytes)).to.equal(true)
      expect(firstParent(bytes)).to.equal(parseCommit(bytes).parents[0])
    }
  })

  it('finds the first of several parents, and none in a root', () => {
    const parents = ['1'.repeat(40), '2'.repeat(40)]
    expect(firstParent(encodeCommit({ ...commit, parents }))).to.equal(parents[0])
    expect(firstParent(encodeCommit(commit))).to.equal(undefined)
  })

  it('reads what git tolerates', () => {
    const parse = (rest: string) => parseCommit(Buffer.from(`tree ${tree}\n${rest}`))
    expect(parse('')).to.deep.include({ parents: [], message: '', author: nobody })
    expect(parse('author Ann\ncommitter Bo <bo@x> 5 +0100')).to.deep.include({
      author: { ...nobody, name: 'Ann' },
      committer: { name: 'Bo', email: 'bo@x', seconds: 5, timezone: '+0100' },
      message: '',
    })
    expect(parse('author Ann <<ann>@x> 7\n\nm').author).to.deep.equal({
      ...nobody,
      name: 'Ann',
      email: '<ann',
      seconds: 7,
    })
    const of = (date: string): number => parse(`author <a@x> ${date}\n\n`).author.seconds
    // The nearest that a calendar has.
    expect(of('99999999999999999999 +0000')).to.equal(253_402_300_799)
    expect(of('9000000000000 +0000')).to.equal(253_402_300_799)
    expect(of(`${'9'.repeat(400)} +0000`)).to.equal(253_402_300_799)
    expect(of('253402300799 +9999')).to.equal(253_402_300_799)
    expect(of('-5 +0000')).to.equal(0)
    expect(of('')).to.equal(0)
    expect(parse('author A <open\n\nm').author.email).to.equal('open')
    const merged = parse(
      `author A <a> 1 +0000\nmergetag object ${tree}\n type commit\n \n text\nHG:x y\n\nm\n`,
    )
    expect(merged.headers).to.deep.equal([
      { key: 'mergetag', value: `object ${tree}\ntype commit\n\ntext` },
      { key: 'HG:x', value: 'y' },
    ])
    expect(merged.message).to.equal('m\n')
  })

  it('refuses bytes that are no commit', () => {
    for (const text of ['', 'parent x', `tree ${tree.slice(1)}\n`, `tree ${tree}\nparent abc\n`]) {
      expect(() => parseCommit(Buffer.from(text)), text)
        .to.throw()
        .with.property('code', 'damaged_repository')
    }
  })

  it('refuses to write what git fsck --strict complains about', () => {
    for (const bad of ['A <b', 'A> b', 'A\nb', 'A\0b', 'A\ud800']) {
      for (const role of ['author', 'committer'] as const) {
        for (const part of ['name', 'email'] as const) {
          const odd = { ...commit, [role]: { ...ann, [part]: bad } }
          expect(() => encodeCommit(odd), bad)
            .to.throw(`${role}.${part}`)
            .with.property('code', 'invalid_request')
        }
      }
    }
    for (const message of ['a\0b', '\udc00']) {
      expect(() => encodeCommit({ ...commit, message }))
        .to.throw('message')
        .with.property('code', 'invalid_request')
    }
    expect(() => encodeCommit({ ...commit, author: { ...ann, seconds: 1.5 } })).to.throw('author.seconds')
    expect(() => encodeCommit({ ...commit, author: { ...ann, seconds: -1 } })).to.throw('author.seconds')
    expect(() => encodeCommit({ ...commit, author: { ...ann, seconds: 253_402_300_800 } })).to.throw(
      'author.seconds',
    )
    expect(() => encodeCommit({ ...commit, author: { ...ann, timezone: 'UTC' } })).to.throw('author.timezone')
  })
})

const nobody = { name: '', email: '', seconds: 0, timezone: '+0000' }
