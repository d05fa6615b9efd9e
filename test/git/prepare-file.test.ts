import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { SpareFs } from '../../src/git/spare-files.ts'
import { withSpareFiles } from '../../src/git/spare-files.ts'
import { prepareFile } from '../../src/git/transactions/pack-staging.ts'
import type { Fs } from '../../src/storage/fs.ts'
import { nodeFs } from '../../src/storage/node-fs.ts'
import { temporaryFolder } from './git-program.ts'

describe('git: a file that is prepared', () => {
  const prepared = (fs: Fs, store: string, text: string): ((path: string) => void) =>
    prepareFile(fs, `${store}/tmp_file`, Buffer.from(text))
  const seen = (store: string): string[] =>
    (nodeFs.readDir(store) ?? []).filter((name) => !name.startsWith('.'))

  for (const [where, make] of [
    ['of a spare file', withSpares],
    ['without one', async () => nodeFs],
  ] as const) {
    it(`has no name of a pack's until it gets it, whole, ${where}`, async () => {
      const store = temporaryFolder()
      const name = prepared(await make(store), store, 'whole')
      expect(seen(store)).not.to.include('file')
      name(`${store}/file`)
      expect(seen(store)).to.deep.equal(['file'])
      expect(nodeFs.readFile(`${store}/file`)?.toString()).to.equal('whole')
    })

    it(`takes the place of a file that has the name, ${where}`, async () => {
      const store = temporaryFolder()
      nodeFs.create(`${store}/file`, Buffer.from('torn'))
      prepared(await make(store), store, 'whole')(`${store}/file`)
      expect(seen(store)).to.deep.equal(['file'])
      expect(nodeFs.readFile(`${store}/file`)?.toString()).to.equal('whole')
    })
  }

  it('is made anew when its spare name was removed while it waited', async () => {
    const store = temporaryFolder()
    const fs = await withSpares(store)
    const name = prepared(fs, store, 'whole')
    await fs.dropSpares()
    name(`${store}/file`)
    expect(nodeFs.readFile(`${store}/file`)?.toString()).to.equal('whole')
  })
})

/** A file system in whose store files lie ready. */
async function withSpares(store: string): Promise<SpareFs> {
  const fs = withSpareFiles(nodeFs, store)
  while (!fs.takeSpare?.(Buffer.alloc(0))) await pause(5)
  return fs
}
