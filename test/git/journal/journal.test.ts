import { expect } from 'chai'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { Journal } from '../../../src/git/journal/journal.ts'
import { decodeJournal, encodeRecord } from '../../../src/git/journal/journal-record.ts'
import { encodeCommit, encodeTree } from '../../../src/git/objects/object.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { Store } from '../../../src/git/store/store.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { thisProcess } from '../../../src/storage/files/process-identity.ts'
import { pathsBelow } from '../../support/disk/paths-below.ts'
import { commitOn } from '../../support/git/commit-on.ts'
import { ageJournals, journals, powerCut, snapshot } from '../power-cut.ts'

const REPOSITORY = 'default/workflows/bot.git'

describe('git: the journal', () => {
  it('keeps an answered write through a power cut that lost everything not synced', async () => {
    const { folder, store, repository } = await freshStore()
    const before = snapshot(folder)
    const oids = [await commit(repository, 'one'), await commit(repository, 'two')]
    powerCut(folder, before)
    expect(git(`${folder}/${REPOSITORY}`, ['for-each-ref'])).to.equal('')
    await Store.open(nodeFs, folder)
    expect(git(`${folder}/${REPOSITORY}`, ['rev-list', 'main']).split('\n')).to.deep.equal(oids.reverse())
    expect(git(`${folder}/${REPOSITORY}`, ['fsck', '--strict'])).to.equal('')
    expect(journals(folder)).to.deep.equal([])
    await store.close()
  })

  it('mends a ref and a pack that a power cut left torn', async () => {
    const { folder, repository, newPacks } = await freshStore()
    const head = await commit(repository, 'one')
    ageJournals(folder)
    const gitdir = `${folder}/${REPOSITORY}`
    writeFileSync(`${gitdir}/refs/heads/main`, '')
    for (const path of newPacks()) truncateSync(path, 10)
    await Store.open(nodeFs, folder)
    expect(git(gitdir, ['rev-parse', 'main'])).to.equal(head)
    expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
  })

  // A journal that was removed and is there again would make what was removed since once more.
  it('has the removal of earlier journals on the disk before a repository may be removed', async () => {
    const folder = temporaryFolder()
    const synced: string[] = []
    const fs: Fs = { ...nodeFs, syncDir: (path) => (synced.push(path), nodeFs.syncDir(path)) }
    const journal = new Journal(fs, folder)
    await journal.untilSettled(`${folder}/${REPOSITORY}`)
    expect(synced).to.deep.equal([])
    mkdirSync(`${folder}/.journal`)
    await journal.untilSettled(`${folder}/${REPOSITORY}`)
    expect(synced).to.deep.equal([`${folder}/.journal`])
  })

  describe('notes what a write decided', () => {
    const NOTE = 'default/notes/decided'
    const noted = async (isNeeded: boolean) => {
      const fresh = await freshStore()
      mkdirSync(`${fresh.folder}/default/notes`)
      const before = snapshot(fresh.folder)
      await fresh.repository.transact(async (transaction) => {
        for (const path of [NOTE, '../outside', 'default/notes/../../outside', '/tmp/branchpoint-outside'])
          transaction.note({ path, isNeeded: () => isNeeded })
        return commitOn(transaction, 'refs/heads/main', 'noted')
      })
      return { ...fresh, before }
    }

    it('in a file, before it forgets it', async () => {
      const { folder, store } = await noted(true)
      expect(existsSync(`${folder}/${NOTE}`)).to.equal(false)
      expect(store.shared?.notes()).to.include(NOTE)
      await store.close()
      expect([existsSync(`${folder}/${NOTE}`), store.shared?.notes()]).to.deep.equal([true, []])
      for (const path of [`${folder}/../outside`, `${folder}/outside`, '/tmp/branchpoint-outside'])
        expect(existsSync(path), path).to.equal(false)
    })

    it('in none, if it is written down elsewhere by then', async () => {
      const { folder, store } = await noted(false)
      await store.close()
      expect(existsSync(`${folder}/${NOTE}`)).to.equal(false)
    })

    it('in a file at the next start after a power cut, and after a kill', async () => {
      for (const boot of ['other', 'same'] as const) {
        const { folder, before } = await noted(false)
        if (boot === 'other') powerCut(folder, before)
        else ageJournals(folder, { boot })
        await (await Store.open(nodeFs, folder)).close()
        expect(existsSync(`${folder}/${NOTE}`), boot).to.equal(true)
      }
    })
  })

  it('follows no record into another folder: one may be of a server that believed a name', async () => {
    for (const boot of ['other', 'same'] as const) {
      const { folder, store, repository } = await freshStore()
      const head = await commit(repository, 'one')
      await store.close()
      mkdirSync(`${folder}/.journal`, { recursive: true })
      writeFileSync(`${folder}/secrets.key`, 'secret\n')
      const others = [
        '../../../../../secrets.key',
        '../../../../../new',
        '../../../../environments',
        '/tmp/branchpoint-new',
        'a\0b',
      ]
      const moves = [
        ...others.map((name) => ({ ref: `refs/tags/${name}`, target: head })),
        { ref: '../../../secrets.key', target: head },
        { ref: 'refs/tags/good', target: `${head}\nx` },
        { ref: 'refs/heads/main', expected: head, target: 'ref: ../../../../secrets.key' },
        { ref: 'HEAD', target: 'ref: ../../../secrets.key' },
        { ref: 'refs/tags/kept', target: head },
      ]
      const packs = { name: '../../../../../new', pack: Buffer.from('x'), index: Buffer.from('x') }
      const writes = [
        { repository: REPOSITORY, moves },
        { repository: REPOSITORY, moves: [], pack: packs },
        { repository: `default/../../${folder.slice(folder.lastIndexOf('/') + 1)}/${REPOSITORY}`, moves },
      ]
      writeFileSync(`${folder}/.journal/x`, encodeRecord({ id: 1, round: 1, at: 1, writes }))
      const { host, boot: ours } = thisProcess()
      const dead = `${host}.${boot === 'same' ? ours : 'feedfacecafe'}.999999999.1`
      renameSync(`${folder}/.journal/x`, `${folder}/.journal/${dead}.1`)
      const before = pathsBelow(folder).filter((path) => !path.includes('.git/') && !path.startsWith('.'))
      await (await Store.open(nodeFs, folder)).close()
      expect(
        pathsBelow(folder).filter((path) => !path.includes('.git/') && !path.startsWith('.')),
      ).to.deep.equal(before)
      expect(readFileSync(`${folder}/secrets.key`, 'utf8')).to.equal('secret\n')
      expect(
        git(`${folder}/${REPOSITORY}`, ['for-each-ref', '--format=%(refname)']).split('\n'),
      ).to.deep.equal(boot === 'other' ? ['refs/heads/main', 'refs/tags/kept'] : ['refs/heads/main'])
      expect(git(`${folder}/${REPOSITORY}`, ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/main')
    }
  })

  it('leaves a ref alone that git moved elsewhere after us', async () => {
    const { folder, repository } = await freshStore()
    const first = await commit(repository, 'one')
    await commit(repository, 'two')
    ageJournals(folder)
    const gitdir = `${folder}/${REPOSITORY}`
    const other = git(gitdir, ['commit-tree', `${first}^{tree}`, '-m', 'by hand'])
    git(gitdir, ['update-ref', 'refs/heads/main', other])
    await Store.open(nodeFs, folder)
    expect(git(gitdir, ['rev-parse', 'main'])).to.equal(other)
  })

  it('ignores a record that the power cut left half written', async () => {
    const { folder, repository } = await freshStore()
    const before = snapshot(folder)
    const first = await commit(repository, 'one')
    await commit(repository, 'two')
    powerCut(folder, before)
    const [journal = ''] = journals(folder)
    const bytes = readFileSync(journal)
    writeFileSync(journal, bytes.subarray(0, bytes.length - 5))
    expect(decodeJournal(readFileSync(journal))).to.have.length(1)
    await Store.open(nodeFs, folder)
    expect(git(`${folder}/${REPOSITORY}`, ['rev-parse', 'main'])).to.equal(first)
  })

  it('does nothing again while the machine was not restarted: what was answered is there', async () => {
    const { folder, repository } = await freshStore()
    await commit(repository, 'one')
    ageJournals(folder, { boot: 'same' })
    git(`${folder}/${REPOSITORY}`, ['update-ref', '-d', 'refs/heads/main'])
    await Store.open(nodeFs, folder)
    expect(git(`${folder}/${REPOSITORY}`, ['for-each-ref'])).to.equal('')
    expect(journals(folder)).to.deep.equal([])
  })

  it('is gone after a clean stop, everything it told of synced', async () => {
    const synced: string[] = []
    const { folder, store, repository, newPacks } = await freshStore({
      ...nodeFs,
      syncAll: (paths) => (synced.push(...paths), nodeFs.syncAll(paths)),
    })
    await commit(repository, 'one')
    expect(journals(folder)).to.have.length(1)
    await store.close()
    expect(journals(folder)).to.deep.equal([])
    const gitdir = `${folder}/${REPOSITORY}`
    expect(newPacks()).to.have.length(2)
    expect(synced).to.include.members([`${gitdir}/refs/heads/main`, ...newPacks()])
  })

  it('is not written again once somebody has removed it: what comes later survives a power cut', async () => {
    const { folder, store, repository } = await freshStore()
    await commit(repository, 'one')
    for (const path of journals(folder)) rmSync(path)
    await store.checkpoint()
    const before = snapshot(folder)
    const head = await commit(repository, 'two')
    powerCut(folder, before)
    await Store.open(nodeFs, folder)
    expect(git(`${folder}/${REPOSITORY}`, ['rev-parse', 'main'])).to.equal(head)
  })

  it('has all it told of synced although somebody has removed it', async () => {
    const synced: string[] = []
    const { folder, store, repository, newPacks } = await freshStore({
      ...nodeFs,
      syncAll: (paths) => (synced.push(...paths), nodeFs.syncAll(paths)),
    })
    await commit(repository, 'one')
    for (const path of journals(folder)) rmSync(path)
    await store.checkpoint()
    const gitdir = `${folder}/${REPOSITORY}`
    expect(synced).to.include.members([`${gitdir}/refs/heads/main`, ...newPacks()])
  })

  for (const [what, fails] of Object.entries<(call: string) => boolean>({
    'what it told of cannot be synced': (call) => call === 'syncAll',
    'it cannot be emptied': (call) => call === 'append',
  })) {
    it(`stays in its folder and is closed, once, when ${what}`, async () => {
      const closed: string[] = []
      let isFailing = false
      const check = (call: string): void => {
        if (isFailing && fails(call)) throw Object.assign(new Error(`no ${call}`), { code: 'EIO' })
      }
      const { folder, store, repository } = await freshStore({
        ...nodeFs,
        syncAll: async (paths) => (check('syncAll'), nodeFs.syncAll(paths)),
        createLog: (path) => {
          const log = nodeFs.createLog(path)
          return {
            ...log,
            append: (bytes) => (check('append'), log.append(bytes)),
            close: () => (closed.push(path), log.close()),
          }
        },
      })
      await commit(repository, 'one')
      const [first = ''] = journals(folder)
      isFailing = true
      await store.checkpoint()
      isFailing = false
      expect(closed).to.deep.equal([first])
      const head = await commit(repository, 'two')
      await store.close()
      // What came later stays beside it: the next start would undo it otherwise.
      const [kept, ...more] = journals(folder).filter((path) => path !== first)
      expect([existsSync(first), more]).to.deep.equal([true, []])
      expect(
        decodeJournal(readFileSync(kept ?? '')).map(({ writes }) => writes[0]?.moves[0]?.target),
      ).to.deep.equal([head])
      expect(closed.filter((path) => path === first)).to.have.length(1)
      expect(git(`${folder}/${REPOSITORY}`, ['rev-parse', 'main'])).to.equal(head)
    })
  }

  it('stays one file behind a checkpoint that takes long, however many writes there are', async () => {
    let release = (): void => {}
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    let begin = (): void => {}
    const hasBegun = new Promise<void>((resolve) => (begin = resolve))
    const { folder, store, repository } = await freshStore({
      ...nodeFs,
      syncAll: async (paths) => {
        begin()
        await isReleased
        await nodeFs.syncAll(paths)
      },
    })
    await commit(repository, 'one')
    await hasBegun
    // A checkpoint is due after a second.
    for (const message of ['two', 'three']) {
      await commit(repository, message)
      await pause(1100)
    }
    expect(journals(folder)).to.have.length(2)
    release()
    await store.close()
    expect(journals(folder)).to.deep.equal([])
    expect(git(`${folder}/${REPOSITORY}`, ['rev-list', '--count', 'main'])).to.equal('3')
  })

  it('costs one sync for all writes that wait at the same moment', async () => {
    let syncs = 0
    const { repository } = await freshStore(
      countingLog(() => {
        syncs++
      }),
    )
    await Promise.all(
      Array.from({ length: 30 }, (_, number) => commit(repository, `${number}`, `b${number}`)),
    )
    expect(syncs).to.be.lessThan(10)
  })

  it('refuses the write when it cannot grow, moves nothing, and goes on once it can', async () => {
    let full = true
    const { folder, repository, newPacks } = await freshStore(
      countingLog(() => {
        if (full) throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })
      }),
    )
    const refused = await commit(repository, 'one').catch((error: NodeJS.ErrnoException) => error.code)
    expect(refused).to.equal('ENOSPC')
    expect(git(`${folder}/${REPOSITORY}`, ['for-each-ref'])).to.equal('')
    expect(newPacks()).to.deep.equal([])
    full = false
    const head = await commit(repository, 'two')
    expect(git(`${folder}/${REPOSITORY}`, ['rev-parse', 'main'])).to.equal(head)
  })

  describe('does not bring back after a power cut what was refused', () => {
    const steps: Record<string, (call: string, what: string) => boolean> = {
      'because its record could not be synced': (call) => call === 'sync',
      'because its pack could not be written': (call, bytes) => call === 'write' && bytes.startsWith('PACK'),
      'because its pack could not be named': (call, path) =>
        /^(?:link|rename)$/.test(call) && path.endsWith('.pack'),
      'because its ref could not be moved': (call, path) => call === 'rename' && path.endsWith('/main'),
    }
    for (const [why, isFailing] of Object.entries(steps)) {
      it(why, async () => {
        let isFull = false
        const check = (call: string, what: string): void => {
          if (isFull && isFailing(call, what)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
        }
        const log = countingLog(() => check('sync', ''))
        const { folder, repository } = await freshStore({
          ...log,
          create: (path, bytes) => (check('write', textOf(bytes)), log.create(path, bytes)),
          append: (path, bytes) => (check('write', textOf(bytes)), log.append(path, bytes)),
          link: (from, to) => (check('link', to), log.link(from, to)),
          rename: (from, to) => (check('rename', to), log.rename(from, to)),
        })
        const head = await commit(repository, 'one')
        isFull = true
        const refused = await commit(repository, 'two').catch((error: NodeJS.ErrnoException) => error.code)
        expect(refused).to.equal('ENOSPC')
        ageJournals(folder)
        await Store.open(nodeFs, folder)
        expect(git(`${folder}/${REPOSITORY}`, ['rev-parse', 'main'])).to.equal(head)
      })
    }
  })
})

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

interface Fresh {
  readonly folder: string
  readonly store: Store
  readonly repository: Repository
  /** Packs and indexes that came after the repository was made. */
  readonly newPacks: () => string[]
}

async function freshStore(fs: Fs = nodeFs): Promise<Fresh> {
  const folder = temporaryFolder()
  // Another server makes the repository, so that the journal of this one begins with what the test writes.
  const maker = await Store.open(nodeFs, folder)
  const made = await maker.project('default')
  await made.create('workflows', 'bot', { objects: [], refs: new Map(), head: 'main' })
  await maker.close()
  const store = await Store.open(fs, folder)
  const project = await store.project('default')
  const packs = `${folder}/${REPOSITORY}/objects/pack`
  const first = new Set(readdirSync(packs))
  const newPacks = (): string[] =>
    readdirSync(packs)
      .filter((name) => !first.has(name))
      .map((name) => `${packs}/${name}`)
  return { folder, store, repository: project.repository('workflows', 'bot'), newPacks }
}

async function commit(repository: Repository, message: string, branch = 'main'): Promise<string> {
  const signature = { name: 'a', email: 'a@b.c', seconds: 1_700_000_000, timezone: '+0000' }
  return repository.transact(async (transaction) => {
    const parent = transaction.ref(`refs/heads/${branch}`)
    const tree = transaction.write('tree', encodeTree([]))
    const parents = parent === undefined ? [] : [parent]
    const bytes = encodeCommit({ tree, parents, author: signature, committer: signature, message })
    const oid = transaction.write('commit', bytes)
    transaction.move(`refs/heads/${branch}`, oid)
    return oid
  })
}

/** The real disk, telling of every sync of a journal before it happens. */
function countingLog(onSync: () => void): Fs {
  return {
    ...nodeFs,
    createLog: (path) => {
      const log = nodeFs.createLog(path)
      return {
        ...log,
        sync: async () => {
          onSync()
          await log.sync()
        },
      }
    },
  }
}
