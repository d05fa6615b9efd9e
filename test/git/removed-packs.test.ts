import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { Oid } from '../../src/git/objects/object.ts'
import { PackCache } from '../../src/git/packs/pack-cache.ts'
import type { Repository } from '../../src/git/store/repository.ts'
import { Store } from '../../src/git/store/store.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'

describe('git: packs that are open', () => {
  before(function () {
    // Elsewhere nothing tells which files this process has open.
    if (process.platform !== 'linux') this.skip()
  })

  it('are closed once they were removed, while reads go on', async () => {
    const { folder, store, repository, oids } = await openStore()
    await readAll(repository, oids)
    expect(openIn(folder)).to.have.length(2)
    oids.push(addBlob(repository.path))
    git(repository.path, ['repack', '-a', '-d', '-k', '-q'])
    await readAll(repository, oids.slice(0, 2))
    expect(openIn(folder).filter(isRemoved)).to.have.length(2)
    const stop = store.keepRemovedClosed(10)
    try {
      for (let waited = 0; openIn(folder).some(isRemoved); waited += 10) {
        expect(waited, 'milliseconds').to.be.below(10_000)
        await readAll(repository, oids)
        await pause(10)
      }
    } finally {
      stop()
    }
    await readAll(repository, oids)
    expect(openIn(folder)).to.have.length(1)
    await store.close()
  })

  it('are closed, too, where nobody may look at them any more', () => {
    const cache = new PackCache()
    let closed = 0
    const read = () => 0
    cache.handles.set('/store/hidden.pack', { size: 0, read, close: () => void closed++ })
    const stat = (): never => {
      throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
    }
    cache.closeRemoved({ ...nodeFs, stat })
    expect(closed).to.equal(1)
  })

  it('are closed with their store', async () => {
    const { folder, store, repository, oids } = await openStore()
    await readAll(repository, oids)
    expect(openIn(folder)).to.have.length(2)
    await store.close()
    expect(openIn(folder)).to.deep.equal([])
  })
})

/** A store with one repository, whose packs are too large to be read in one go. */
async function openStore() {
  const folder = temporaryFolder()
  const path = `${folder}/default/workflows/bot.git`
  git(folder, ['init', '--quiet', '--bare', path])
  const oids = [addBlob(path), addBlob(path)]
  const store = await Store.open(nodeFs, folder)
  const repository = (await store.project('default')).repository('workflows', 'bot')
  return { folder, store, repository, oids }
}

/** A blob in a pack of its own. */
function addBlob(gitdir: string): Oid {
  const oid = git(gitdir, ['hash-object', '-w', '--stdin'], randomBytes(200_000))
  git(gitdir, ['pack-objects', '-q', `${gitdir}/objects/pack/pack`], `${oid}\n`)
  git(gitdir, ['prune-packed', '-q'])
  return oid
}

async function readAll({ objects }: Repository, oids: readonly Oid[]): Promise<void> {
  for (const oid of oids) expect((await objects.read(oid))?.bytes).to.have.length(200_000)
}

/** The files below the folder that this process has open, as Linux tells them. */
function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) && path.includes('/objects/pack/') ? [path] : []
    } catch {
      return [] // the one that listed them
    }
  })
}

function isRemoved(path: string): boolean {
  return path.endsWith(' (deleted)')
}
