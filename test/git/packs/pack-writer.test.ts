import { expect } from 'chai'
import isomorphicGit from 'isomorphic-git'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { git, gitBytes, temporaryFolder } from '../../support/git/git-program.ts'
import { encodeCommit, type ObjectKind, hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { PackIndex } from '../../../src/git/packs/pack-index-reader.ts'
import type { PackableObject } from '../../../src/git/packs/pack-writer.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'
import { stageObjects } from '../../../src/git/transactions/write-path.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

const object = (kind: ObjectKind, bytes: Buffer): PackableObject => ({
  oid: hashObject(kind, bytes),
  kind,
  bytes,
})

describe('git: packs we write', () => {
  const folder = temporaryFolder()
  const blobs = [0, 1, 15, 16, 2047, 2048, 4096, 4097, 300_000].map((size) =>
    object('blob', randomBytes(size)),
  )
  const text = object('blob', Buffer.alloc(3_000_000, 'the same again and again\n'))
  const files = [...blobs, text]
  const tree = object(
    'tree',
    encodeTree(files.map(({ oid }, number) => ({ mode: '100644', name: `file${number}`, oid }))),
  )
  const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
  const commit = object(
    'commit',
    encodeCommit({ tree: tree.oid, parents: [], author, committer: author, message: 'All\n' }),
  )
  const tag = object(
    'tag',
    Buffer.from(`object ${commit.oid}\ntype commit\ntag v1\ntagger Ann <ann@example.com> 1 +0000\n\nv1\n`),
  )
  const all = [commit, tree, tag, ...files]
  const encoded = encodePack([...all, commit])
  const path = `${folder}/objects/pack/${encoded.name}`

  before(() => {
    git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
    fs.writeFileSync(`${path}.pack`, encoded.pack)
    fs.writeFileSync(`${path}.idx`, encoded.index)
    git(folder, ['update-ref', 'refs/heads/main', commit.oid])
    git(folder, ['update-ref', 'refs/tags/v1', tag.oid])
  })

  it('satisfy git fsck --strict and git verify-pack, each object once', () => {
    expect(git(folder, ['fsck', '--strict', '--full'])).to.equal('')
    expect(git(folder, ['verify-pack', '-v', `${path}.idx`])).to.contain(`${encoded.name}.pack: ok`)
    expect(encoded.pack.readUInt32BE(8)).to.equal(all.length)
  })

  it('have the name and the index that git index-pack gives', () => {
    const theirs = `${folder}/theirs.idx`
    const checksum = git(folder, ['index-pack', '-o', theirs, `${path}.pack`])
    expect(encoded.name).to.equal(`pack-${checksum}`)
    expect(fs.readFileSync(theirs).equals(encoded.index)).to.equal(true)
  })

  it('have an index that lists every object in order', () => {
    const index = new PackIndex(nodeFs, new PackCache(), `${path}.idx`)
    expect([...index.oids()]).to.deep.equal(all.map(({ oid }) => oid).sort())
    expect(index.count).to.equal(all.length)
  })

  it('are read by git, by isomorphic-git and by us alike', async () => {
    const store = new ObjectDatabase(nodeFs, folder, new PackCache())
    for (const { oid, kind, bytes } of all) {
      expect(gitBytes(folder, ['cat-file', kind, oid]).equals(bytes), oid).to.equal(true)
      const theirs = await isomorphicGit.readObject({ fs, gitdir: folder, oid, format: 'content' })
      expect(theirs.type).to.equal(kind)
      expect(Buffer.from(theirs.object as Uint8Array).equals(bytes), oid).to.equal(true)
      const ours = await store.read(oid)
      expect(ours?.kind).to.equal(kind)
      expect(ours?.bytes.equals(bytes), oid).to.equal(true)
    }
  })

  it('may be empty', () => {
    const { pack, index } = encodePack([])
    expect(pack.length).to.equal(32)
    expect(index.length).to.equal(8 + 1024 + 40)
  })

  it('are as sound where long objects are deflated aside, which lets others go on', async () => {
    const long = [object('blob', randomBytes(4_000_000)), ...all]
    let turns = 0
    const count = (): void => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const staged = await stageObjects(nodeFs, folder, long)
    clearImmediate(next)
    expect(turns).to.be.above(0)
    const { packPath = '', indexPath = '', name } = staged ?? {}
    const theirs = `${folder}/theirs-of-long.idx`
    expect(`pack-${git(folder, ['index-pack', '-o', theirs, packPath])}`).to.equal(name)
    expect(fs.readFileSync(indexPath).equals(fs.readFileSync(theirs)), 'index').to.equal(true)
    const held = new PackIndex(nodeFs, new PackCache(), indexPath)
    expect([...held.oids()]).to.deep.equal(long.map(({ oid }) => oid).sort())
    staged?.discard()
    expect(await stageObjects(nodeFs, folder, [])).to.equal(undefined)
  })
})
