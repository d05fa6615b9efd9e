import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import { Store } from '../../../src/git/store/store.ts'
import { transactAcross } from '../../../src/git/store/repository.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { mortalFs } from '../mortal-fs.ts'
import { copiedFs } from './copied-fs.ts'
import { commitOnto, newRepository } from './repositories.ts'

describe('git: a server that follows a log and is killed', () => {
  it('at any step while it takes in what others decided, has all of it after its next start', async () => {
    const database = new MemoryDatabase()
    const other = await followStore(memoryFs(), '/store', database.open)
    await newRepository(other, 'live', 'environments')
    for (const slug of ['kept', 'removed', 'purged']) await newRepository(other, slug)
    const begun = memoryFs()
    const server = await followStore(begun, '/store', database.open)
    await server.close()
    await writeHistory(other)
    const wanted = await contentOf(other)
    const steps = await killAtEachStep(
      begun,
      database,
      async (fs) => {
        await followStore(fs, '/store', database.open)
      },
      async (restarted) => expect(await contentOf(restarted)).to.deep.equal(wanted),
    )
    expect(steps).to.be.greaterThan(60)
    await other.close()
  })

  it('at any step while it fills an empty folder, has all of it after its next start', async () => {
    const database = new MemoryDatabase()
    const other = await followStore(memoryFs(), '/store', database.open)
    await newRepository(other, 'live', 'environments')
    for (const slug of ['kept', 'removed', 'purged']) await newRepository(other, slug)
    await writeHistory(other)
    const wanted = await contentOf(other)
    const empty = memoryFs()
    empty.makeDir('/store')
    const steps = await killAtEachStep(
      empty,
      database,
      async (fs) => {
        await followStore(fs, '/store', database.open)
      },
      async (restarted) => expect(await contentOf(restarted)).to.deep.equal(wanted),
    )
    expect(steps).to.be.greaterThan(40)
    await other.close()
  })

  it('at any step of its own writes, has what was decided after its next start, and so have the others', async () => {
    const begin = async (): Promise<{ database: MemoryDatabase; fs: Fs }> => {
      const database = new MemoryDatabase()
      const fs = memoryFs()
      const store = await followStore(fs, '/store', database.open)
      await newRepository(store, 'live', 'environments')
      await newRepository(store, 'kept')
      await store.close()
      return { database, fs }
    }
    let steps = 0
    for (let isOver = false; !isOver; steps++) {
      const { database, fs } = await begin()
      const left = killAfter(fs, steps)
      const doomed = await followStore(left.fs, '/store', database.open).catch(() => undefined)
      const work = async (store: Store): Promise<'done'> => {
        await newRepository(store, 'removed')
        await newRepository(store, 'purged')
        await writeHistory(store)
        return 'done'
      }
      isOver =
        doomed !== undefined &&
        (await Promise.race([work(doomed).catch(() => 'killed'), left.died])) === 'done'
      const restarted = await followStore(copiedFs(fs, '/store'), '/store', database.open)
      const other = await followStore(memoryFs(), '/store', database.open)
      await restarted.fresh()
      expect(await contentOf(restarted), `killed at step ${steps}`).to.deep.equal(await contentOf(other))
      await restarted.close()
      await other.close()
    }
    expect(steps).to.be.greaterThan(100)
  })
})

/** Runs the work with a process that dies at its first step, its second and so on, and checks what a start finds then. */
async function killAtEachStep(
  begun: Fs,
  database: MemoryDatabase,
  work: (fs: Fs) => Promise<void>,
  check: (restarted: Store) => Promise<unknown>,
): Promise<number> {
  for (let steps = 0; ; steps++) {
    const fs = copiedFs(begun, '/store')
    const left = killAfter(fs, steps)
    const outcome = await Promise.race([
      work(left.fs).then(
        () => 'done',
        () => 'killed',
      ),
      left.died,
    ])
    const restarted = await followStore(copiedFs(fs, '/store'), '/store', database.open)
    await check(restarted)
    await restarted.close()
    if (outcome === 'done') return steps
  }
}

function killAfter(fs: Fs, steps: number) {
  let left = steps
  return mortalFs(fs, (_, die) => {
    if (left-- === 0) die()
  })
}

/** Commits, tags, a ref that goes, a write over two repositories, HEAD, the trash and back, and a slug that is used again. */
async function writeHistory(store: Store): Promise<void> {
  const project = await store.project('default')
  const kept = project.repository('workflows', 'kept')
  const live = project.repository('environments', 'live')
  for (const number of [1, 2, 3]) {
    await kept.transact(async (transaction) => {
      const commit = commitOnto(transaction, `commit ${number}`)
      transaction.setDerivedRef(`refs/tags/tag-${number}`, commit)
    })
  }
  await kept.transact(async (transaction) => transaction.removeDerivedRef('refs/tags/tag-2'))
  await transactAcross([kept, live], async ([one, two]) => {
    if (!one || !two) throw new Error('there are two')
    one.setDerivedRef('refs/environments/live', commitOnto(one, 'joint'))
    commitOnto(two, 'joint')
  })
  await kept.transact(async (transaction) => {
    transaction.move('refs/heads/other', transaction.ref('refs/heads/main') ?? '')
    transaction.setDerivedRef('HEAD', 'ref: refs/heads/other')
  })
  const put = (slug: string): Promise<void> =>
    project.trash.put('workflows', slug, `${slug}\n`, { others: [live.path], check: async () => undefined })
  await put('removed')
  await project.trash.takeBack('workflows', 'removed')
  await put('removed')
  await put('purged')
  await project.trash.purge('workflows', 'purged')
  await newRepository(store, 'purged')
  await project.repository('workflows', 'purged').transact(async (transaction) => {
    commitOnto(transaction, 'again')
  })
}

/** Every repository with its refs and HEAD; what they lead to can be read. */
async function contentOf(store: Store): Promise<Record<string, unknown>> {
  const project = await store.project('default')
  const content: Record<string, unknown> = {}
  for (const family of ['environments', 'workflows']) {
    for (const slug of project.slugs(family)) content[`${family}/${slug}`] = project.repository(family, slug)
    for (const slug of project.trashedSlugs(family))
      content[`.trash/${family}/${slug}`] = project.trash.repository(family, slug)
  }
  for (const [path, repository] of Object.entries(content)) {
    const { refs, head } = (repository as ReturnType<typeof project.repository>).refs.snapshot()
    for (const oid of refs.values()) {
      const found = await (repository as ReturnType<typeof project.repository>).objects.read(oid)
      expect(found, `${oid} of ${path}`).not.to.equal(undefined)
    }
    content[path] = { head, refs: Object.fromEntries([...refs].sort()) }
  }
  return content
}
