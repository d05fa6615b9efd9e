import { expect } from 'chai'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { Store } from '../../src/git/store/store.ts'

describe('git: a new store that two servers open at once', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'store-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  it('keeps the format file of the first, by which both know the store', async () => {
    let first: Store | undefined
    const late: Fs = {
      ...nodeFs,
      createSynced: async (path, bytes, mode) => {
        first ??= await openElsewhere()
        await nodeFs.createSynced(path, bytes, mode)
      },
    }
    const second = await Store.open(late, folder)
    expect(first?.guard.problem).to.equal(undefined)
    expect(second.guard.problem).to.equal(undefined)
    expect(statSync(join(folder, 'format')).nlink).to.equal(1)
    await second.close()
    await first?.close()
  })

  function openElsewhere(): Promise<Store> {
    return Store.open(nodeFs, folder)
  }
})
