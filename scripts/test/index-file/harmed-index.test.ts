import { expect } from 'chai'
import { endServers } from '../../../test/support/servers/child-server.ts'
import { indexRound } from '../../proofs/index-file/index-round.ts'
import type { IndexHarm } from '../../proofs/index-file/index-states.ts'
import { temporaryFolder } from '../../../test/support/git/git-program.ts'

// `npm run proof -- index` does the same with many more.
describe('versioning: index.db after a kill, a power cut and flipped bytes', () => {
  const folders = [temporaryFolder(), temporaryFolder()]
  after(() => endServers())

  it('answers after a power cut what one that is made anew answers', () =>
    expectSound(folders[0], 1, ['power']))

  it('fails for nobody after bytes were flipped', () => expectSound(folders[1], 2, ['flipped']))
})

async function expectSound(storeDir = '', seed: number, harms: readonly IndexHarm[]): Promise<void> {
  const { problems } = await indexRound({ storeDir, seed, steps: 20, harms })
  expect(problems).to.deep.equal([])
}
