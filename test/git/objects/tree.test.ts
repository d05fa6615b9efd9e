import { expect } from 'chai'
import { git, gitBytes, temporaryFolder } from '../../support/git/git-program.ts'
import { hashObject, type TreeEntry, encodeTree, parseTree } from '../../../src/git/objects/object.ts'

describe('git: trees', () => {
  it('sorts as git does and is what git mktree makes', () => {
    const folder = temporaryFolder()
    git(folder, ['init', '--quiet', '--bare', '.'])
    const blob = git(folder, ['hash-object', '-w', '--stdin'], 'x')
    const empty = git(folder, ['mktree'], '')
    const files = [
      'a',
      'a-b',
      'a.b',
      'ab',
      'Z',
      'é',
      '😀',
      '\uffee',
      '05.json',
      'a b',
      '.gitattributes',
      'git',
    ]
    const entries: TreeEntry[] = [
      ...files.map((name) => ({ mode: '100644' as const, name, oid: blob })),
      { mode: '40000', name: 'a0', oid: empty },
      { mode: '40000', name: 'a.c', oid: empty },
      { mode: '40000', name: '05', oid: empty },
      { mode: '100755', name: 'run', oid: blob },
      { mode: '120000', name: 'link', oid: blob },
      { mode: '160000', name: 'module', oid: '1'.repeat(40) },
    ]
    const listing = entries.map(({ mode, name, oid }) => {
      const kind = mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
      return `${mode.padStart(6, '0')} ${kind} ${oid}\t${name}\0`
    })
    const theirs = git(folder, ['mktree', '-z'], listing.join(''))
    const ours = encodeTree(entries)
    expect(hashObject('tree', ours)).to.equal(theirs)
    expect(hashObject('tree', encodeTree(entries.toReversed()))).to.equal(theirs)
    expect(gitBytes(folder, ['cat-file', 'tree', theirs]).equals(ours)).to.equal(true)
    expect(encodeTree(parseTree(ours)).equals(ours)).to.equal(true)
    expect(new Set(parseTree(ours))).to.have.deep.keys(entries)
    git(folder, ['fsck', '--strict'])
  })

  it('keeps names that are not UTF-8, and reads old modes as git does', () => {
    const raw = Buffer.concat([Buffer.from('100664 f\xff\xfe\0', 'latin1'), Buffer.alloc(20, 7)])
    const entries = parseTree(raw)
    expect(entries).to.have.length(1)
    expect(entries[0]).to.include({ mode: '100644', oid: '07'.repeat(20) })
    expect(encodeTree(entries).includes(Buffer.from('f\xff\xfe\0', 'latin1'))).to.equal(true)
    expect(parseTree(Buffer.alloc(0))).to.deep.equal([])
  })

  it('refuses bytes that are no tree', () => {
    const entry = Buffer.concat([Buffer.from('100644 a\0'), Buffer.alloc(20, 1)])
    for (const bad of [
      entry.subarray(0, -1),
      entry.subarray(0, 8),
      Buffer.from('hello'),
      Buffer.from(' a\0' + 'x'.repeat(20)),
      Buffer.from('7777777 a\0' + 'x'.repeat(20)),
    ]) {
      expect(() => parseTree(bad))
        .to.throw()
        .with.property('code', 'damaged_repository')
    }
  })

  it('refuses names that git refuses', () => {
    const dotGits = [
      '.git',
      '.GIT',
      '.Git',
      'git~1',
      'GIT~1',
      '.git ',
      '.git.',
      '.git. .',
      '.git:x',
      '.git\\x',
    ]
    const hidden = ['.g\u200cit', '\ufeff.git']
    for (const name of ['', '.', '..', 'a/b', '/', 'a\0', ...dotGits, ...hidden]) {
      expect(() => encodeTree([{ mode: '100644', name, oid: '0'.repeat(40) }]), JSON.stringify(name))
        .to.throw('tree')
        .with.property('code', 'invalid_request')
    }
    for (const name of ['.gitignore', '.gi', 'git', '...', 'x.git', '.gitx', 'git~2']) {
      expect(encodeTree([{ mode: '100644', name, oid: '0'.repeat(40) }])).to.be.instanceOf(Buffer)
    }
    const twice = [
      { mode: '100644', name: 'a', oid: '0'.repeat(40) },
      { mode: '40000', name: 'a', oid: '1'.repeat(40) },
    ] as const
    expect(() => encodeTree(twice))
      .to.throw('twice')
      .with.property('code', 'invalid_request')
  })
})
