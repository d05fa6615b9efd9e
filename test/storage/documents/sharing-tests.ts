import { expect } from 'chai'
import fc from 'fast-check'
import { Refusal } from '../../../src/errors.ts'
import type { TableFeed } from '../../../src/cluster/documents/document-table.ts'
import type { Lease } from '../../../src/storage/files/documents.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { FOLDER, sharingServer, type Sharing, type SharingServer } from './shared-store.ts'

/** What the servers of a test share. */
export interface Shared {
  /** What a server has of it. */
  server(): TableFeed
  /** What is in every document, by path. */
  contents(): Promise<Record<string, string>>
  /** The time of a lease is over. */
  expire(name: string): Promise<void>
}

const LISTS = ['default/keys.json', 'other/sessions.json']
const LOGS = ['default/evaluations/a.jsonl', 'default/webhooks/told']
const FILES = ['default/idempotency/a.json', 'secrets.key']

type Step = { readonly server: number; readonly path: string } & (
  | { readonly kind: 'push' | 'put' | 'append' | 'create' | 'remove' | 'look' }
  | { readonly kind: 'log'; readonly lines: number }
)

const server = fc.nat({ max: 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('push' as const), server, path: fc.constantFrom(...LISTS) }),
  fc.record({
    kind: fc.constant('log' as const),
    server,
    path: fc.constantFrom(...LOGS),
    lines: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    kind: fc.constantFrom(
      'put' as const,
      'append' as const,
      'create' as const,
      'remove' as const,
      'look' as const,
    ),
    server,
    path: fc.constantFrom(...FILES),
  }),
)
/** Steps of one group are taken at once. */
const history = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 })

/** The tests of whatever servers agree through; `share` makes an empty one. */
export function sharingTests(share: () => Promise<Shared>, runs: number): void {
  const serverOf = (shared: Shared, more: Partial<Sharing> = {}): Promise<SharingServer> =>
    sharingServer({ feed: shared.server(), ...more })
  const look = ({ documents }: SharingServer): Promise<unknown> =>
    documents.update(`${FOLDER}/default/keys.json`, () => ({ answer: undefined }))
  const refusalOf = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.then(
      () => undefined,
      (it: unknown) => it,
    )
    return error instanceof Refusal ? error.code : `no refusal: ${String(error)}`
  }

  /** Takes a step, and answers what is to be found afterwards. */
  const take = async ({ documents }: SharingServer, one: Step, id: string): Promise<void> => {
    const path = `${FOLDER}/${one.path}`
    if (one.kind === 'push')
      await documents.update(path, (before) => {
        const list = JSON.parse(before?.toString() ?? '[]') as string[]
        return { bytes: Buffer.from(JSON.stringify([...list, id])), answer: undefined }
      })
    else if (one.kind === 'log')
      await documents.lease(path, async (lease) => {
        for (let line = 0; line < one.lines; line++) await lease.append(path, Buffer.from(`${id} ${line}\n`))
      })
    else if (one.kind === 'put') await documents.put(path, Buffer.from(id))
    else if (one.kind === 'append') await documents.append(path, Buffer.from(id))
    else if (one.kind === 'create') await documents.create(path, Buffer.from(id))
    else if (one.kind === 'remove') await documents.remove(path)
  }

  it('two servers at once lose no update and no line, and come to have the same files', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (groups) => {
        const shared = await share()
        const servers = [await serverOf(shared), await serverOf(shared)] as const
        const pushed = new Map(LISTS.map((path) => [path, [] as string[]]))
        const logged = new Map(LOGS.map((path) => [path, [] as string[][]]))
        for (const [number, group] of groups.entries()) {
          await Promise.all(
            group.map((one, at) => {
              const id = `${number}.${at}`
              if (one.kind === 'push') pushed.get(one.path)?.push(id)
              if (one.kind === 'log')
                logged.get(one.path)?.push(Array.from({ length: one.lines }, (_, line) => `${id} ${line}`))
              return take(servers[one.server] ?? servers[0], one, id)
            }),
          )
        }
        for (const each of servers) await look(each)
        const contents = await shared.contents()
        for (const each of servers) expect(each.files()).to.deep.equal(contents)
        expect((await serverOf(shared)).files(), 'a server that comes later').to.deep.equal(contents)
        for (const [path, ids] of pushed)
          expect((JSON.parse(contents[path] ?? '[]') as string[]).sort()).to.deep.equal(ids.sort())
        for (const [path, jobs] of logged) {
          const lines = (contents[path] ?? '').split('\n').slice(0, -1)
          expect(lines).to.have.length(jobs.flat().length)
          for (const job of jobs) {
            const [first = ''] = job
            const at = lines.indexOf(first)
            // Who has the lease is not interrupted.
            expect(lines.slice(at, at + job.length)).to.deep.equal(job)
          }
        }
      }),
      { numRuns: runs },
    )
  })

  it('whoever makes a document first makes it, and all have that one', async () => {
    const shared = await share()
    const servers = await Promise.all([serverOf(shared), serverOf(shared), serverOf(shared)])
    const path = `${FOLDER}/secrets.key`
    const made = await Promise.all(
      servers.map(({ documents }, number) =>
        documents.create(path, Buffer.from(String(number)), { mode: 0o600 }),
      ),
    )
    expect(made.filter(Boolean)).to.have.length(1)
    const first = String(made.indexOf(true))
    for (const { fs } of servers) expect(fs.readFile(path)?.toString()).to.equal(first)
  })

  it('an update that refuses, or leaves things as they are, changes nothing', async () => {
    const shared = await share()
    const one = await serverOf(shared)
    const path = `${FOLDER}/default/keys.json`
    await one.documents.put(path, Buffer.from('kept'))
    const refusal = new Refusal('key_not_found', 'No.')
    const refused = one.documents.update(path, () => Promise.reject(refusal))
    expect(await refusalOf(refused)).to.equal('key_not_found')
    expect(await one.documents.update(path, (before) => ({ answer: before?.toString() }))).to.equal('kept')
    expect(await shared.contents()).to.deep.equal({ 'default/keys.json': 'kept' })
  })

  it('a lease is one server’s at a time: others wait for it, are refused, or are told that it is not free', async () => {
    const shared = await share()
    const [one, two] = [await serverOf(shared), await serverOf(shared)]
    const path = `${FOLDER}/default/webhooks/teller`
    let waited: Promise<string> | undefined
    let isOver = false
    const answer = await one.documents.lease(path, async ({ signal }) => {
      expect(await two.documents.isLeased(path)).to.equal(true)
      for (const [folder, names] of [
        ['default/webhooks', ['teller']],
        ['default', []],
        ['default/webhook', []],
      ] as const)
        expect(await two.documents.leased(`${FOLDER}/${folder}`), folder).to.deep.equal(names)
      expect(await two.documents.leaseIfFree(path, () => Promise.resolve('had it'))).to.equal(undefined)
      waited = two.documents.lease(path, () => Promise.resolve(isOver ? 'after it' : 'beside it'))
      await Promise.race([waited, new Promise((resolve) => setTimeout(resolve, 30))])
      isOver = true
      return signal.aborted
    })
    expect([answer, await waited]).to.deep.equal([false, 'after it'])
    expect(await two.documents.isLeased(path)).to.equal(false)
    expect(await two.documents.leased(`${FOLDER}/default/webhooks`)).to.deep.equal([])
    expect(await two.documents.leaseIfFree(path, () => Promise.resolve('had it'))).to.equal('had it')
  })

  it('the lease of a server that dies goes to another, which finds all that it did; if it lives, it writes no more', async () => {
    const shared = await share()
    const [late, next] = [await serverOf(shared), await serverOf(shared)]
    const path = `${FOLDER}/default/evaluations/a.jsonl`
    let held: Lease | undefined
    await late.documents.lease(path, async (lease) => {
      held = lease
      await lease.append(path, Buffer.from('late\n'))
      await shared.expire('default/evaluations/a.jsonl')
      await next.documents.lease(path, async (taken) => {
        expect(next.fs.readFile(path)?.toString()).to.equal('late\n')
        expect(await refusalOf(lease.append(path, Buffer.from('too late\n')))).to.equal('locked')
        expect(await refusalOf(lease.put(path, Buffer.from('too late\n')))).to.equal('locked')
        expect(await refusalOf(lease.remove(path))).to.equal('locked')
        expect([lease.signal.aborted, taken.signal.aborted]).to.deep.equal([true, false])
        await taken.append(path, Buffer.from('next\n'))
      })
    })
    expect(await refusalOf(held?.append(path, Buffer.from('much too late\n')) ?? Promise.resolve())).to.equal(
      'locked',
    )
    for (const each of [late, next]) {
      await look(each)
      expect(each.fs.readFile(path)?.toString()).to.equal('late\nnext\n')
    }
  })

  it('work that its server leaves, or dies of, is there for another to go on with, and no other work is', async () => {
    const shared = await share()
    const [one, two] = [await serverOf(shared), await serverOf(shared)]
    const [left, died, done, noted] = ['left', 'died', 'done', 'noted'].map(
      (it) => `${FOLDER}/default/evaluations/${it}`,
    )
    await one.documents.lease(left ?? '', async (lease) => lease.abandon(), { note: 'of left' })
    await one.documents.lease(done ?? '', async () => undefined, { note: 'of done' })
    await one.documents.lease(noted ?? '', async (lease) => lease.abandon())
    await one.documents.lease(
      died ?? '',
      async () => {
        expect(await two.documents.abandoned()).to.deep.equal([{ path: left, note: 'of left' }])
        await shared.expire('default/evaluations/died')
        const abandoned = [...(await two.documents.abandoned())].sort((a, b) => (a.path < b.path ? -1 : 1))
        expect(abandoned).to.deep.equal([
          { path: died, note: 'of died' },
          { path: left, note: 'of left' },
        ])
        await two.documents.leaseIfFree(died ?? '', async () => undefined, { note: 'of died' })
      },
      { note: 'of died' },
    )
    expect(await two.documents.leaseIfFree(left ?? '', async () => 'went on', { note: 'of left' })).to.equal(
      'went on',
    )
    expect(await two.documents.abandoned()).to.deep.equal([])
  })

  it('a lease is prolonged for as long as it is held', async () => {
    const shared = await share()
    const one = await serverOf(shared, { leaseMs: 1600 })
    const two = await serverOf(shared)
    const path = `${FOLDER}/default/webhooks/teller`
    await one.documents.lease(path, async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 2000))
      expect([signal.aborted, await two.documents.isLeased(path)]).to.deep.equal([false, true])
    })
  })

  it('a folder that is old, torn or somebody else’s is brought to what there is when it is opened', async () => {
    const shared = await share()
    const one = await serverOf(shared)
    const path = `${FOLDER}/default/evaluations/a.jsonl`
    const secret = `${FOLDER}/default/secrets.json`
    for (const line of ['1\n', '2\n', '3\n']) await one.documents.append(path, Buffer.from(line))
    await one.documents.put(secret, Buffer.from('{}'), { mode: 0o600 })
    const contents = await shared.contents()
    const fs = memoryFs()
    for (const folder of ['default/evaluations', 'default/webhooks/x', 'default/workflows/a.git', 'old'])
      fs.makeDir(`${FOLDER}/${folder}`)
    const write = (name: string, text: string): void => fs.create(`${FOLDER}/${name}`, Buffer.from(text))
    write('default/evaluations/a.jsonl', '1\n2')
    write('default/evaluations/gone.jsonl', '1\n')
    write('default/webhooks/x/webhook.json', '{}')
    write('old/keys.json', '{}')
    write('default/index.db', 'its own')
    write('default/workflows/a.git/keys.json', 'of a repository')
    const again = await serverOf(shared, { fs })
    expect(again.files()).to.deep.equal({
      ...contents,
      'default/index.db': 'its own',
      'default/workflows/a.git/keys.json': 'of a repository',
    })
    await one.documents.append(path, Buffer.from('4\n'))
    await look(again)
    expect(again.fs.readFile(path)?.toString()).to.equal('1\n2\n3\n4\n')
  })

  it('a server whose disk fails has what was decided once it works again', async () => {
    const shared = await share()
    const one = await serverOf(shared)
    const disk = memoryFs()
    let isFailing = false
    const failing =
      <T extends unknown[]>(call: (...given: T) => void) =>
      (...given: T): void => {
        if (isFailing) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
        call(...given)
      }
    const fs = {
      ...disk,
      create: failing(disk.create),
      rename: failing(disk.rename),
      append: failing(disk.append),
      remove: failing(disk.remove),
    }
    const two = await serverOf(shared, { fs })
    const [log, file] = [`${FOLDER}/default/webhooks/told`, `${FOLDER}/default/keys.json`]
    await two.documents.append(log, Buffer.from('1\n'))
    await one.documents.put(file, Buffer.from('old'))
    await look(two)
    isFailing = true
    await one.documents.put(file, Buffer.from('new'))
    await two.documents.append(log, Buffer.from('2\n')).catch(() => undefined)
    await look(two).catch(() => undefined)
    await two.documents.remove(`${FOLDER}/default/other`).catch(() => undefined)
    isFailing = false
    await one.documents.append(log, Buffer.from('3\n'))
    await look(two)
    expect(two.files()).to.deep.equal(await shared.contents())
    expect(two.files()).to.deep.equal({ 'default/keys.json': 'new', 'default/webhooks/told': '1\n2\n3\n' })
  })
}
