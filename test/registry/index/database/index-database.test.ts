import { expect } from 'chai'
import Database from 'libsql'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../../../support/git/git-program.ts'
import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { nodeFs } from '../../../../src/storage/files/node-fs.ts'
import { commitRevision } from '../../../../src/registry/revisions/commit-revision.ts'
import { queryRevisions } from '../../../../src/registry/revisions/query-revisions.ts'
import type { VariantLocation } from '../../../../src/registry/revisions/references.ts'
import { Registry } from '../../../../src/registry/store/registry.ts'
import { Store } from '../../../../src/git/store/store.ts'
import { forkVariant } from '../../../../src/registry/variants/fork-variant.ts'
import { context, memoryRegistry, newVariant } from '../../memory-registry.ts'
import { listed } from './listed.ts'

/** What is noted is written after two seconds. */
const WRITTEN_BY = 4500

const servicesBase = 'http://localhost/services'

describe('versioning: the index of revisions', () => {
  let registry: Registry

  beforeEach(async () => {
    registry = await memoryRegistry()
  })

  const commit = async (place: VariantLocation, message: string): Promise<VariantLocation> => {
    const data: JsonObject = { parameters: { message } }
    const made = await commitRevision(registry, place, { data, message, header: {}, loc: [] }, context)
    return { artifact: made.revision.artifact, variant: made.revision.variant }
  }
  const forked = (slug: string, name: string): Promise<VariantLocation> =>
    forkVariant(registry, workflowFamily, { variant: { slug } }, { slug: name, header: {}, loc: [] }, context)
  const versions = async (message: string): Promise<number[]> => {
    const { rows } = await queryRevisions(registry, workflowFamily, { roles: {}, filter: { message } })
    return rows.map(({ version }) => version)
  }

  it('is closed with its registry in memory, too, and made anew for who asks it later', async () => {
    await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
    expect(await versions('One')).to.deep.equal([1])
    const { file } = registry.index.database
    expect(file?.rows('SELECT 1 AS one')).to.deep.equal([{ one: 1 }])
    await registry.index.close()
    expect(registry.index.database.file).to.equal(undefined)
    expect(() => file?.rows('SELECT 1 AS one')).to.throw('not open')
    expect(await versions('One')).to.deep.equal([1])
  })

  it('says which variants hold a revision, through forks of forks', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    place = await commit(place, 'One')
    let fork = await forked('bot', 'fork')
    fork = await commit(fork, 'Two on the fork')
    await commit(place, 'Two')
    await commit(await forked('fork', 'twig'), 'Three on the twig')
    await commit(fork, 'Three on the fork')
    expect((await listed(registry)).map(([, depth, , holders]) => [depth, holders]).sort()).to.deep.equal([
      [1, ['bot', 'fork', 'twig']],
      [2, ['bot']],
      [2, ['fork', 'twig']],
      [3, ['fork']],
      [3, ['twig']],
    ])
  })

  it('finds messages by any part, of any letters, in any case, long ones, too', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    place = await commit(place, 'A Straße İ "quoted" NEAR(x) 東京都の天気')
    place = await commit(place, `${'x'.repeat(5000)} Needle`)
    await commit(place, 'Short')
    for (const [part, found] of [
      ['STRASSE', []],
      ['straße İ', [1]],
      ['"quoted"', [1]],
      ['near(', [1]],
      ['京都の', [1]],
      ['都', [1]],
      ['needle', [2]],
      ['S', [1, 3]],
      ['* OR "', []],
      ['nul\0nul', []],
      ['', [1, 2, 3]],
    ] as const) {
      expect(await versions(part), part).to.deep.equal(found)
    }
  })

  it('goes on over more revisions than are looked at in one go, with a page of them that are wanted', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    for (let number = 0; number < 300; number++)
      place = await commit(place, number % 100 === 7 ? 'rare' : 'ra')
    expect(await versions('rare')).to.deep.equal([8, 108, 208])
    expect(await versions('ra')).to.have.length(300)
  })

  it('says whose commits cannot be read, shows the others, and looks again', async () => {
    const { fs } = registry.store
    const { repository } = (await commit(await newVariant(registry, workflowFamily, 'bad'), 'Lost')).artifact
    await commit(await newVariant(registry, workflowFamily, 'good'), 'Kept')
    const reader = await memoryRegistry(fs)
    fs.rename(`${repository.path}/objects/pack`, `${repository.path}/objects/away`)
    const query = (slug?: string) =>
      queryRevisions(reader, workflowFamily, { roles: {}, filter: {}, artifacts: slug ? [{ slug }] : [] })
    expect((await query()).rows.map(({ stored }) => stored.message)).to.deep.equal(['Kept'])
    expect(reader.index.problems().map(({ repository: path }) => path)).to.deep.equal(['workflows/bad'])
    expect(await query('bad').catch((error: { code?: string }) => error.code)).to.equal('damaged_repository')
    fs.rename(`${repository.path}/objects/away`, `${repository.path}/objects/pack`)
    expect((await query()).rows).to.have.length(2)
  })

  describe('in a folder', () => {
    let folder: string
    const problems: string[] = []

    const opened = async (): Promise<Registry> => {
      const project = await (await Store.open(nodeFs, folder)).project('default')
      const onProblem = (_: string, { repository, reason }: { repository: string; reason: string }): void =>
        void problems.push(`${repository} ${reason}`)
      const settings = { servicesBase, now: () => new Date(), onProblem }
      const one = new Registry(project, [workflowFamily], settings)
      await one.index.load()
      return one
    }

    beforeEach(async () => {
      folder = temporaryFolder()
      problems.length = 0
      registry = await opened()
    })

    it('knows at the next start what it knew, whether it was closed or died', async () => {
      const place = await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      const before = await listed(registry)
      await commit(place, 'Two')
      // Not written yet: this one is as if it had been killed.
      const next = await opened()
      expect(await listed(next)).to.have.length(2)
      expect((await listed(next))[0]).to.deep.equal(before[0])
      await registry.index.close()
      await next.index.close()
      expect(await listed(await opened())).to.have.length(2)
    })

    it('makes a file of another version anew, whatever its tables are called', async () => {
      await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      await listed(registry)
      await registry.index.close()
      const database = new Database(`${folder}/default/index.db`)
      database.exec('CREATE TABLE victims (a)')
      database.exec('CREATE TABLE "x""; DROP TABLE victims; --" (a)')
      database.exec('PRAGMA user_version = 1')
      database.close()
      registry = await opened()
      expect(await listed(registry)).to.have.length(1)
      expect(problems).to.deep.equal([])
    })

    it('takes away what servers of before kept in its place', async () => {
      writeFileSync(`${folder}/default/workflows.timeline`, 'BPF1')
      await listed(registry)
      expect(readdirSync(`${folder}/default`)).to.not.include('workflows.timeline')
    })

    it('writes nothing of its own accord once it is closed: another store may lie in the folder', async () => {
      const place = await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      await registry.index.refresh([workflowFamily])
      // Just written to, so that its view cannot be saved.
      await commit(place, 'Two')
      await registry.index.close()
      for (const part of ['', '-wal', '-shm']) rmSync(`${folder}/default/index.db${part}`, { force: true })
      git(`${folder}/default/workflows/bot.git`, ['branch', 'pushed', 'bot'])
      await registry.index.sweep()
      await pause(WRITTEN_BY)
      expect(readdirSync(`${folder}/default`)).not.to.include('index.db')
    })

    it('reads no commit again that it knew', async () => {
      await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      await listed(registry)
      await registry.index.close()
      const path = `${folder}/default/workflows/bot.git/objects`
      const next = await opened()
      nodeFs.rename(path, `${path}-away`)
      expect(await listed(next)).to.have.length(1)
    })

    it('sees what plain git does: a commit, a reset, a branch that goes', async () => {
      const place = await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      await commit(await forked('bot', 'fork'), 'Two')
      const gitdir = place.artifact.repository.path
      expect(await listed(registry)).to.have.length(2)
      git(gitdir, ['update-ref', 'refs/heads/fork', git(gitdir, ['rev-parse', 'fork^'])])
      await registry.index.sweep()
      expect((await listed(registry)).map(([, , , holders]) => holders)).to.deep.equal([['bot', 'fork']])
      git(gitdir, ['update-ref', '-d', 'refs/heads/fork'])
      await registry.index.sweep()
      expect((await listed(registry)).map(([, , , holders]) => holders)).to.deep.equal([['bot']])
    })

    it('is made anew where it is removed, or something else lies there', async () => {
      const place = await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      const before = await listed(registry)
      const remove = (): void => {
        for (const name of readdirSync(`${folder}/default`))
          if (name.startsWith('index.db')) rmSync(`${folder}/default/${name}`)
      }
      remove()
      expect(await listed(registry)).to.deep.equal(before)
      remove()
      writeFileSync(`${folder}/default/index.db`, 'no database'.repeat(1000))
      expect(await listed(registry)).to.deep.equal(before)
      expect(readdirSync(`${folder}/default`).filter((name) => name.includes('damaged'))).to.have.length(1)
      expect(problems.join()).to.match(/^index\.db is damaged, and made anew/)
      expect(registry.index.problems()).to.deep.equal([])
      await commit(place, 'Two')
      expect(await listed(registry)).to.have.length(2)
    })

    it('is shared by two servers, each of which sees what the other one wrote', async () => {
      const other = await opened()
      let place = await commit(await newVariant(registry, workflowFamily, 'bot'), 'One')
      expect(await listed(other)).to.have.length(1)
      for (let number = 2; number < 30; number++) {
        place = await commit(place, `${number}`)
        const [mine, theirs] = await Promise.all([listed(registry), listed(other)])
        expect([mine.length, theirs.length]).to.deep.equal([number, number])
      }
      expect(await listed(other)).to.deep.equal(await listed(registry))
    })
  })
})
