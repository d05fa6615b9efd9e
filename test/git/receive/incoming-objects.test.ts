import { expect } from 'chai'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { git, gitBytes, repositoryWithHistory, temporaryFolder } from '../../support/git/git-program.ts'
import { Journal } from '../../../src/git/journal/journal.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import type { ListedObject } from '../../../src/git/program/list-objects.ts'
import { Repository } from '../../../src/git/store/repository.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

describe('incoming objects', () => {
  let gitdir: string
  let repository: Repository
  let clone: string
  before(() => {
    gitdir = repositoryWithHistory(3)
    clone = temporaryFolder()
    git('/', ['clone', '-q', gitdir, clone])
    repository = new Repository(nodeFs, gitdir, new PackCache(), new Journal(nodeFs, temporaryFolder()))
  })

  const oidOf = (name: string): string => git(clone, ['rev-parse', name])
  const pack = (revisions: string, ...args: readonly string[]): Buffer =>
    gitBytes(clone, ['pack-objects', '--stdout', '-q', ...args], revisions)
  const receive = (bytes: Buffer, maxBytes = 1_000_000) =>
    repository.receive({ bytes: inPieces(bytes), maxBytes, signal: new AbortController().signal })
  const quarantines = (): string[] =>
    readdirSync(`${gitdir}/objects`).filter((it) => it.startsWith('incoming-'))

  function commit(message: string, content: string): string {
    git(clone, [
      'update-index',
      '--add',
      '--cacheinfo',
      `100644,${git(clone, ['hash-object', '-w', '--stdin'], content)},x`,
    ])
    git(clone, ['commit', '-q', '-m', message])
    return oidOf('HEAD')
  }

  it('are seen by nobody else, and name what is new with its size and path', async () => {
    const head = commit('New', 'something new')
    const incoming = await receive(pack(`${head}\n^${oidOf('HEAD~1')}\n`, '--revs', '--thin'))
    expect(await repository.objects.read(head)).to.equal(undefined)
    expect((await incoming.read(head))?.kind).to.equal('commit')
    expect((await incoming.read(oidOf('HEAD~1')))?.kind).to.equal('commit')
    expect([incoming.has(head), incoming.has(oidOf('HEAD~2'))]).to.deep.equal([true, false])
    const found: ListedObject[] = []
    for await (const object of incoming.newObjects([head])) found.push(object)
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).to.deep.equal(['commit ', 'tree ', 'blob x'])
    expect(found[2]?.size).to.equal(13)
    incoming.discard()
    expect(quarantines()).to.deep.equal([])
  })

  it('of a few kilobytes that would be gigabytes are refused before they are', async () => {
    const bomb = deltaBomb(0xffffff, 40)
    expect(bomb.length).to.be.lessThan(32 * 1024)
    const error = await receive(bomb).catch((it: unknown) => it)
    expect(error).to.include({ code: 'invalid_file' })
    expect(String(error)).to.contain('attempting to allocate')
    expect(quarantines()).to.deep.equal([])
  })

  it('become a part of a write, small ones and large ones', async () => {
    const staged = (): string[] =>
      readdirSync(`${gitdir}/objects/pack`).filter((it) => !/^pack-[0-9a-f]+\.(pack|idx)$/.test(it))
    for (const isSmall of [true, false]) {
      const tip = commit(`Kept ${isSmall}`, isSmall ? 'few' : randomBytes(300_000).toString('hex'))
      const incoming = await receive(pack(`${tip}\n^${git(gitdir, ['rev-parse', 'main'])}\n`, '--revs'))
      expect(incoming.isSmall).to.equal(isSmall)
      const take = await incoming.prepare()
      expect(staged().length > 0, 'only a large pack is kept as it came').to.equal(!isSmall)
      await repository.transact(async (transaction) => {
        take(transaction)
        transaction.move('refs/heads/main', tip)
      })
      incoming.discard()
      expect(git(gitdir, ['rev-parse', 'main'])).to.equal(tip)
      expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
      expect(staged()).to.deep.equal([])
    }
  })

  it('leave nothing of a pack that no write took', async () => {
    const head = commit('Unwanted', 'unwanted')
    const incoming = await receive(pack(`${head}\n^${oidOf('HEAD~1')}\n`, '--revs'))
    await incoming.prepare()
    incoming.discard()
    expect(await repository.objects.has(head)).to.equal(false)
    expect(quarantines()).to.deep.equal([])
  })

  it('are refused when what they need is nowhere', async () => {
    const [parent, head] = [commit('Kept back', 'kept back'), commit('Sent', 'sent')]
    // all of it but the parent and what only that has
    const incoming = await receive(
      pack(`${head}\n${oidOf(`${head}^{tree}`)}\n${git(clone, ['rev-parse', `${head}:x`])}\n`),
    ).catch((error: unknown) => error)
    expect(incoming).to.be.instanceOf(Error).with.property('code', 'invalid_file')
    expect(String(incoming)).to.include(parent)
    expect(quarantines()).to.deep.equal([])
  })

  it('that are no objects at all are refused, too, and so is a tip that nobody sent', async () => {
    const incoming = await repository.receive(undefined)
    const look = async (): Promise<void> => {
      for await (const { oid } of incoming.newObjects(['1'.repeat(40)])) throw new Error(`${oid} was found`)
    }
    expect(await look().catch((error: unknown) => error)).to.have.property('code', 'invalid_file')
    incoming.discard()
  })

  it('are refused when they are damaged, cut off, or not as git fsck --strict wants them', async () => {
    const head = commit('Sound', 'sound')
    const sound = pack(`${head}\n^${oidOf('HEAD~1')}\n`, '--revs')
    const flipped = Buffer.from(sound)
    flipped[20] = (flipped[20] ?? 0) ^ 0xff
    const tree = gitBytes(clone, ['cat-file', 'tree', 'HEAD^{tree}'])
    const zeros = Buffer.concat([Buffer.from('0'), tree])
    const odd = git(clone, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], zeros)
    for (const [bytes, says] of [
      [flipped, /git does not accept/],
      [sound.subarray(0, -30), /git does not accept/],
      [Buffer.from('no pack'), /git does not accept/],
      [pack(`${odd}\n`), /git does not accept .*zeroPadded/is],
    ] as const) {
      const error = await receive(bytes).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('code', 'invalid_file')
      expect(String(error)).to.match(says)
    }
    expect(quarantines()).to.deep.equal([])
  })

  it('are refused when they are too many bytes', async () => {
    const error = await receive(pack(`${oidOf('HEAD')}\n`, '--revs'), 200).catch((thrown: unknown) => thrown)
    expect(error).to.have.property('code', 'limit_exceeded')
  })

  it('of a store in memory lie in a copy on the disk until they are discarded', async () => {
    const fs = memoryFs()
    fs.makeDir('/repository/objects/pack')
    const hidden = new Repository(fs, '/repository', new PackCache(), new Journal(fs, '/'))
    const incoming = await hidden.receive(undefined)
    expect(incoming.isSmall).to.equal(true)
    expect(existsSync(`${incoming.gitdir}/objects/pack`)).to.equal(true)
    incoming.discard()
    expect(existsSync(incoming.gitdir)).to.equal(false)
  })
})

/** As a network brings it. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

/** A pack of a blob of zeros, and of a delta that repeats it so often. */
function deltaBomb(size: number, times: number): Buffer {
  const base = Buffer.alloc(size)
  const oid = createHash('sha1').update(`blob ${size}\0`).update(base).digest()
  const copy = Buffer.from([0xf0, size & 0xff, (size >> 8) & 0xff, size >> 16])
  const delta = Buffer.concat([length(size), length(size * times), ...Array<Buffer>(times).fill(copy)])
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x02', 'latin1')
  const body = [
    head,
    entryHead(3, size),
    deflateSync(base),
    entryHead(7, delta.length),
    oid,
    deflateSync(delta),
  ]
  const sum = createHash('sha1').update(Buffer.concat(body)).digest()
  return Buffer.concat([...body, sum])
}

/** A number as deltas have it: seven bits a byte, the lowest first (gitformat-pack(5)). */
function length(number: number): Buffer {
  const bytes: number[] = []
  let rest = number
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

/** Kind and size of an object of a pack: four bits of the size in the first byte, then seven each. */
function entryHead(kind: number, size: number): Buffer {
  return Buffer.concat([Buffer.from([128 | (kind << 4) | (size & 15)]), length(size >> 4)])
}
