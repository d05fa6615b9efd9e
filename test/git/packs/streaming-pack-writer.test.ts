import { expect } from 'chai'
import isomorphicGit from 'isomorphic-git'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { git, gitBytes, temporaryFolder } from '../../support/git/git-program.ts'
import { encodeCommit, hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { StreamingPackWriter } from '../../../src/git/packs/streaming-pack-writer.ts'
import { sweepStagedPacks } from '../../../src/git/packs/pack-writer.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { identityName, thisProcess } from '../../../src/storage/files/process-identity.ts'

const row = (number: number): Buffer =>
  Buffer.from(`{"answer":"${number}","question":"What is ${number}, and why?"}\n`)
const inMemory = (): Fs => {
  const disk = memoryFs()
  disk.makeDir('/objects/pack')
  return disk
}
const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }

describe('git: packs written while objects come in', () => {
  describe('as git sees them', () => {
    const folder = temporaryFolder()
    const sizes = [0, 1, 15, 16, 511, 512, 513, 2048, 4096, 4097, 262_000, 262_144, 300_000, 900_000]
    const contents = [
      ...Array.from({ length: 3000 }, (_, number) => row(number)),
      ...sizes.flatMap((size) => [randomBytes(size), Buffer.alloc(size, 'the same again and again\n')]),
    ]
    const oids: string[] = []
    let packPath = ''
    before(async () => {
      git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
      const builder = new StreamingPackWriter(nodeFs, folder)
      for (const content of contents) oids.push(builder.add('blob', content))
      const files = [...new Set(oids)].map((oid, number) => ({
        mode: '100644' as const,
        name: `${number}`,
        oid,
      }))
      const tree = builder.add('tree', encodeTree(files))
      const message = 'All\n'
      const commit = builder.add(
        'commit',
        encodeCommit({ tree, parents: [], author, committer: author, message }),
      )
      const tag = `object ${commit}\ntype commit\ntag v1\ntagger Ann <ann@example.com> 1 +0000\n\nv1\n`
      const tagOid = builder.add('tag', Buffer.from(tag))
      const staged = (await builder.finish())!
      expect(staged.bytes).to.equal(undefined)
      staged.publish()
      await staged.syncNames()
      packPath = `${folder}/objects/pack/${staged.name}`
      expect(fs.existsSync(`${packPath}.keep`)).to.equal(true)
      staged.release()
      git(folder, ['update-ref', 'refs/heads/main', commit])
      git(folder, ['update-ref', 'refs/tags/v1', tagOid])
    })

    it('satisfy git fsck --strict and git verify-pack', () => {
      expect(git(folder, ['fsck', '--strict', '--full'])).to.equal('')
      expect(git(folder, ['verify-pack', '-v', `${packPath}.idx`])).to.contain('.pack: ok')
    })

    it('have the name and the index that git index-pack --strict gives', () => {
      const theirs = `${folder}/theirs.idx`
      const checksum = git(folder, ['index-pack', '--strict', '-o', theirs, `${packPath}.pack`])
      expect(packPath).to.contain(`/pack-${checksum}`)
      expect(fs.readFileSync(theirs).equals(fs.readFileSync(`${packPath}.idx`))).to.equal(true)
    })

    it('are read by git, by isomorphic-git and by us alike, also after git gc', async () => {
      const read = async (): Promise<void> => {
        const ours = await new ObjectDatabase(nodeFs, folder, new PackCache()).readMany(oids)
        ours.forEach((object, number) => expect(object?.bytes.equals(contents[number]!)).to.equal(true))
        for (let number = 0; number < oids.length; number += 101) {
          const oid = oids[number]!
          expect(gitBytes(folder, ['cat-file', 'blob', oid]).equals(contents[number]!), oid).to.equal(true)
        }
      }
      await read()
      const cache = {}
      for (let number = 0; number < oids.length; number += 303) {
        const oid = oids[number]!
        const theirs = await isomorphicGit.readObject({ fs, gitdir: folder, oid, format: 'content', cache })
        expect(Buffer.from(theirs.object as Uint8Array).equals(contents[number]!), oid).to.equal(true)
      }
      git(folder, ['gc', '--quiet', '--prune=now'])
      expect(fs.existsSync(`${packPath}.idx`)).to.equal(false)
      await read()
    })
  })

  it('hold an object once, know what they hold, and read it back', () => {
    const builder = new StreamingPackWriter(inMemory(), '')
    const large = randomBytes(400_000)
    const contents = [row(0), large, ...Array.from({ length: 9000 }, (_, number) => row(number + 1))]
    const oids = contents.map((content) => builder.add('blob', content))
    expect(builder.add('blob', Buffer.from(row(5)))).to.equal(hashObject('blob', row(5)))
    for (const number of [0, 1, 2, 3000, 9001]) {
      const oid = oids[number]!
      expect(builder.has(oid)).to.equal(true)
      expect(builder.read(oid)).to.deep.equal({ kind: 'blob', bytes: contents[number] })
    }
    const absent = hashObject('tree', row(0))
    expect(builder.has(absent)).to.equal(false)
    expect(builder.read(absent)).to.equal(undefined)
    builder.discard()
  })

  it('of no objects are nothing', async () => {
    const disk = inMemory()
    expect(await new StreamingPackWriter(disk, '').finish()).to.equal(undefined)
    expect(disk.readDir('/objects/pack')).to.deep.equal([])
  })

  it('leave nothing when they are discarded, before or after they are finished', async () => {
    const disk = inMemory()
    const unfinished = new StreamingPackWriter(disk, '')
    for (let number = 0; number < 6000; number++) unfinished.add('blob', row(number))
    expect(disk.readDir('/objects/pack')).to.have.length(1)
    unfinished.discard()
    expect(disk.readDir('/objects/pack')).to.deep.equal([])
    expect(() => unfinished.add('blob', row(-1))).to.throw('finished or discarded')

    const finished = new StreamingPackWriter(disk, '')
    finished.add('blob', row(1))
    const staged = (await finished.finish())!
    expect(disk.readDir('/objects/pack')).to.have.length(3)
    staged.discard()
    expect(disk.readDir('/objects/pack')).to.deep.equal([])
  })

  it('leave nothing when the disk is full, wherever it happens', async () => {
    const disk = inMemory()
    const build = async (failAt: number): Promise<void> => {
      let calls = 0
      const full = (): void => {
        if (++calls === failAt) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      }
      const failing: Fs = {
        ...disk,
        createFile: (path) => {
          full()
          const file = disk.createFile(path)
          return {
            ...file,
            append: (bytes) => (full(), file.append(bytes)),
            overwrite: (bytes, position) => (full(), file.overwrite(bytes, position)),
            sync: async () => full(),
          }
        },
      }
      const builder = new StreamingPackWriter(failing, '')
      for (let number = 0; number < 5000; number++) builder.add('blob', row(number))
      ;(await builder.finish())?.discard()
    }
    let failures = 0
    for (let failAt = 1; ; failAt++) {
      const error = await build(failAt).catch((reason) => reason)
      expect(disk.readDir('/objects/pack'), `failing call ${failAt}`).to.deep.equal([])
      if (error === undefined) break
      expect(error.code).to.equal('ENOSPC')
      failures++
    }
    // two files, two appends, the header, the checksum, the index and three syncs at the least
    expect(failures).to.be.greaterThan(9)
  })

  it('are swept away once the process that wrote them is dead', async () => {
    const disk = inMemory()
    const builder = new StreamingPackWriter(disk, '')
    builder.add('blob', row(1))
    await builder.finish()
    sweepStagedPacks(disk, '')
    const dead = identityName({ ...thisProcess(), pid: 999_999_999 })
    for (const name of disk.readDir('/objects/pack') ?? []) {
      const theirs = name.replace(identityName(thisProcess()), dead)
      disk.rename(`/objects/pack/${name}`, `/objects/pack/${theirs}`)
    }
    expect(disk.readDir('/objects/pack')).to.have.length(3)
    sweepStagedPacks(disk, '')
    expect(disk.readDir('/objects/pack')).to.deep.equal([])
  })

  it('let others have their turn while they are finished', async () => {
    const builder = new StreamingPackWriter(inMemory(), '')
    for (let number = 0; number < 8; number++) builder.add('blob', randomBytes(1_000_000))
    let turns = 0
    let finished = false
    const count = (): void => {
      turns++
      if (!finished) setImmediate(count)
    }
    setImmediate(count)
    await builder.finish()
    finished = true
    expect(turns).to.be.greaterThan(8)
  })
})
