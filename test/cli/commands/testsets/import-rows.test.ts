import { expect } from 'chai'
import { makeEmptyStore } from '../../empty-store.ts'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { type ImportedRows, importRows } from '../../../../src/cli/testsets/import-command.ts'
import { type OpenTestsets, openTestsets } from '../../../../src/cli/testsets/open-testsets.ts'
import { readConfig } from '../../../../src/config.ts'
import { archiveArtifact, archiveVariant } from '../../../../src/registry/artifacts/change-artifact.ts'
import { createArtifact } from '../../../../src/registry/artifacts/create-artifact.ts'
import { createVariant } from '../../../../src/registry/variants/create-variant.ts'
import { isLeftover } from './run-command.ts'

const ANN = { name: 'Ann', email: 'ann@example.org' }
const BY_ANN = { actor: { id: 'ann', ...ANN } }

describe('importing rows', () => {
  let store: string
  let stop: AbortController
  let testsets: OpenTestsets
  beforeEach(async () => {
    store = mkdtempSync(join(tmpdir(), 'import-rows-'))
    await makeEmptyStore(store)
    stop = new AbortController()
    const config = readConfig({ STORE_DIR: store })
    testsets = await openTestsets({ config, project: 'default', signal: stop.signal })
    const { registry, family } = testsets
    const empty = { slug: 'empty', header: {}, loc: [] }
    await createArtifact(registry, family, empty, BY_ANN)
    await importInto('there', () => undefined)
  })
  afterEach(async () => {
    await testsets.close()
    rmSync(store, { recursive: true, force: true })
  })

  /** Imports two rows; `atEnd` happens when the last of them has been read. */
  function importInto(slug: string, atEnd: () => void, ifChanged = false): Promise<ImportedRows> {
    const chunks = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('{"n":1}\n{"n":2}\n')
      atEnd()
    }
    const file = { type: 'jsonl', infer: false, maxBytes: 1000, chunks } as const
    return importRows(testsets, {
      slug,
      name: undefined,
      message: undefined,
      author: ANN,
      signal: stop.signal,
      ifChanged,
      file,
    })
  }
  const refusalOf = (slug: string, atEnd: () => void): Promise<Error | undefined> =>
    importInto(slug, atEnd).then(
      () => undefined,
      (error: Error) => error,
    )
  const refs = (slug: string): string => git(join(store, 'default', 'testsets', `${slug}.git`), ['show-ref'])

  for (const slug of ['new', 'there', 'empty']) {
    it(`stores nothing in the testset "${slug}" if it is stopped when all rows are read`, async () => {
      const before = [refs('there'), refs('empty')]
      expect((await refusalOf(slug, () => stop.abort()))?.name).to.equal('AbortError')
      expect(readdirSync(join(store, 'default', 'testsets')).sort()).to.deep.equal(['empty.git', 'there.git'])
      expect([refs('there'), refs('empty')]).to.deep.equal(before)
      await testsets.close()
      expect(readdirSync(store, { recursive: true, encoding: 'utf8' }).filter(isLeftover)).to.deep.equal([])
    })
  }

  it('makes no revision of rows that are there, if it is asked not to', async () => {
    const before = refs('there')
    const same = await importInto('there', () => undefined, true)
    expect([same.changed, same.revision.version, same.rows]).to.deep.equal([false, 1, 2])
    expect(refs('there')).to.equal(before)
    const again = await importInto('there', () => undefined)
    expect([again.changed, again.revision.version]).to.deep.equal([true, 2])
  })

  it('gives a testset without a variant its first, with the rows', async () => {
    const { isNew, revision, rows } = await importInto('empty', () => undefined)
    expect({ isNew, rows, version: revision.version, variant: revision.variant.slug }).to.deep.equal({
      isNew: false,
      rows: 2,
      version: 1,
      variant: 'empty',
    })
  })

  it('refuses what is archived, and a slug that is taken but for its case, before the file is read', async () => {
    const { registry, family } = testsets
    const read = (): never => expect.fail('the file was read')
    expect((await refusalOf('THERE', read))?.message).to.contain('The artifact slug "THERE" is taken')
    const there = await registry.index.findBySlug(family, 'there')
    if (!there?.defaultVariant) return expect.fail('the testset is there')
    const place = { artifact: there, variant: there.defaultVariant }
    await createVariant(registry, there, { slug: 'side', header: {}, loc: [] }, BY_ANN)
    const { artifact } = await archiveVariant(registry, place, 'archive', BY_ANN)
    expect((await refusalOf('there', read))?.message).to.contain('The variant "there" was archived at')
    await archiveArtifact(registry, artifact, 'archive', BY_ANN)
    expect((await refusalOf('there', read))?.message).to.contain('The artifact "there" was archived at')
  })
})
