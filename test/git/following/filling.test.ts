import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryDatabase } from '../../support/postgres/memory-log.ts'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { Store } from '../../../src/git/store/store.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { heldFill } from '../../registry/shared/held-fill.ts'
import { newRepository } from './repositories.ts'

describe('git: a folder that takes everything over from a log', () => {
  it('page by page has all of it, also what is made here or elsewhere meanwhile, and nothing that is gone', async () => {
    const database = new MemoryDatabase()
    let pages = 0
    let meanwhile = async (): Promise<void> => undefined
    const open: OpenLog = async (stream) => {
      const log = await database.open(stream)
      return {
        ...log,
        statesBehind: async (repository, most) => {
          const page = await log.statesBehind(repository, most)
          if (++pages === 2) await meanwhile()
          return page
        },
      }
    }
    const here = await followStore(memoryFs(), '/store', database.open)
    for (let number = 0; number < 450; number++) await newRepository(here, `bot-${1000 + number}`)
    const there = await followStore(memoryFs(), '/store', open)
    expect(await slugsOf(there)).to.deep.equal(await slugsOf(here))

    const forget = database.remember()
    await newRepository(here, 'lost')
    await there.fresh()
    expect(await slugsOf(there)).to.include('lost')
    forget()
    pages = 0
    // Their names come before those of the page that is read.
    meanwhile = async () => {
      await newRepository(there, 'a-own')
      await newRepository(here, 'a-other')
    }
    await there.fresh()
    expect(pages).to.equal(4)
    expect(await slugsOf(there))
      .to.include('a-own')
      .and.not.to.include('lost')
    await there.fresh()
    await here.fresh()
    expect(await slugsOf(there)).to.include('a-other')
    expect(await slugsOf(here)).to.deep.equal(await slugsOf(there))
    await here.close()
    await there.close()
  })

  it('has what was made before a failover in the midst of it', async () => {
    const database = new MemoryDatabase()
    database.hints = false
    const here = await followStore(memoryFs(), '/store', database.open)
    for (const slug of ['b', 'c', 'd', 'e', 'f', 'g']) await newRepository(here, slug)
    const held = heldFill(database.open)
    const there = await followStore(memoryFs(), '/store', held.openLog)
    held.allow(4)
    while (there.filling?.progress().there !== 4) await pause(5)
    database.era = 'second'
    // Its name comes before those that the fill has had.
    await newRepository(here, 'a')
    await there.fresh()
    held.allow(100)
    await there.filling?.whole
    expect(await slugsOf(there)).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    await here.close()
    await there.close()
  })

  it('after a power cut keeps nothing of a repository that the cut has left in part, and which is elsewhere now', async () => {
    const database = new MemoryDatabase()
    const here = await followStore(memoryFs(), '/store', database.open)
    for (const slug of ['bot', 'kept']) await newRepository(here, slug)
    const fs = memoryFs()
    await (await followStore(fs, '/store', database.open)).close()
    // Neither its HEAD nor how far the folder was had reached the disk.
    fs.remove('/store/default/workflows/bot.git/HEAD')
    fs.remove('/store/.copy/position')
    const { trash } = await here.project('default')
    await trash.put('workflows', 'bot', 'stamp', { others: [], check: async () => undefined })
    const there = await followStore(fs, '/store', database.open)
    const project = await there.project('default')
    expect(fs.stat('/store/default/workflows/bot.git')).to.equal(undefined)
    expect([project.slugs('workflows'), project.trashedSlugs('workflows')]).to.deep.equal([['kept'], ['bot']])
    await here.close()
    await there.close()
  })
})

async function slugsOf(store: Store): Promise<readonly string[]> {
  return [...(await store.project('default')).slugs('workflows')].sort()
}
