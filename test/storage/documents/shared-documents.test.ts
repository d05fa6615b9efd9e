import { expect } from 'chai'
import { memoryShare } from '../../support/postgres/memory-table.ts'
import { sharingTests, type Shared } from './sharing-tests.ts'

describe('documents that several servers share', () => {
  let conflicts = 0

  sharingTests(async (): Promise<Shared> => {
    const { table, server } = memoryShare()
    return {
      server,
      contents: async () => {
        conflicts += table.conflicts
        return Object.fromEntries(table.paths().map((path) => [path, table.content(path)?.toString() ?? '']))
      },
      expire: async (name) => table.expire(name),
    }
  }, 200)

  it('were changed by two servers at once in these tests', () => expect(conflicts).to.be.greaterThan(100))
})
