import { expect } from 'chai'
import type { DocumentEntry } from '../../../src/storage/documents/document-table.ts'
import { MemoryTable } from './memory-table.ts'
import { sharingTests, type Shared } from './sharing-tests.ts'

/** The way there and back takes so many rounds of the event loop, a different number each time and the same in every run. */
function unevenly(): () => Promise<void> {
  let state = 1
  return async () => {
    state = (state * 48_271) % 0x7fffffff
    for (let rounds = state % 4; rounds > 0; rounds--) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('documents that several servers share', () => {
  let conflicts = 0

  sharingTests(async (): Promise<Shared> => {
    const delay = unevenly()
    const table = new MemoryTable(delay)
    return {
      server: () => {
        let heard = 0
        const entries = async (): Promise<readonly DocumentEntry[]> => {
          await delay()
          const news = table.log.slice(heard)
          heard = table.log.length
          return news
        }
        return { table, entries }
      },
      contents: async () => {
        conflicts += table.conflicts
        return Object.fromEntries(table.paths().map((path) => [path, table.content(path)?.toString() ?? '']))
      },
      expire: async (name) => table.expire(name),
    }
  }, 200)

  it('were changed by two servers at once in these tests', () => expect(conflicts).to.be.greaterThan(100))
})
