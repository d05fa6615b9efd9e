import { expect } from 'chai'
import fc from 'fast-check'
import { Store } from '../../../src/git/store/store.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { testsetFamily } from '../../../src/registry/testsets/testset-family.ts'
import type { SearchWork } from '../../../src/feeds/search/index/search-work.ts'
import { SearchFeed } from '../../../src/feeds/search/search-feed.ts'
import { ProjectSearch } from '../../../src/feeds/search/project-search.ts'
import { parseSearch } from '../../../src/feeds/search/words/parse-search.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import type { DatabaseFile } from '../../../src/storage/sqlite/database-file.ts'
import { DatabaseThread } from '../../../src/storage/sqlite/database-thread.ts'
import { archiveVariant, editArtifact } from '../../../src/registry/artifacts/change-artifact.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { forkVariant } from '../../../src/registry/variants/fork-variant.ts'
import { context } from '../../registry/memory-registry.ts'

const family = testsetFamily({ maxRows: 1000, maxRowBytes: 10_000, maxColumns: 100 })

const WORDS = ['apple', 'birch', 'cedar', 'dogwood', 'elm', 'fig']

/** What happens next, and to which testset, counted round those there are; the rows that a commit has are those of these words. */
const step = fc.record({
  what: fc.constantFrom(
    ...['create', 'commit', 'commit', 'commit', 'fork', 'reset', 'drop', 'archive', 'opt', 'opt', 'remove'],
  ),
  to: fc.nat(20),
  words: fc.subarray(WORDS),
  isAsked: fc.boolean(),
})

describe('search: the rows in the index after random histories', () => {
  it('are those of one that is made anew, whether it was asked meanwhile or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), async (steps) => {
        const opened = await open(memoryFs())
        for (const [number, { what, to, words, isAsked }] of steps.entries()) {
          await take(opened.registry, what, number, to, words)
          if (isAsked) await opened.found('apple')
        }
        const anew = await open(opened.registry.store.fs)
        expect(await tablesOf(opened)).to.deep.equal(await tablesOf(anew))
        for (const word of WORDS) expect(await opened.found(word)).to.deep.equal(await anew.found(word))
        await opened.search.close()
        await anew.search.close()
      }),
      { numRuns: 60 },
    )
  })
})

interface Opened {
  readonly registry: Registry
  readonly search: ProjectSearch
  /** The rows that have a word: their testsets, variants and dedup ids. */
  readonly found: (word: string) => Promise<readonly unknown[]>
}

async function open(fs: Fs): Promise<Opened> {
  const store = await Store.open(fs, '/store')
  const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
  const registry = new Registry(await store.project('default'), [family], settings)
  await registry.index.load()
  // Of what is in memory no thread is asked.
  const search = new ProjectSearch(
    registry,
    new SearchFeed(registry, new DatabaseThread<SearchWork>(new URL('file:///none'))),
  )
  const found = async (word: string) => {
    const { rows } = await search.search({ search: parseSearch(word, []), kinds: [], withRows: true })
    const hits = rows.map(({ artifact, revision, place, excerpt }) => [
      ...[artifact.slug, revision?.variant.slug, revision?.id],
      ...[place, excerpt],
    ])
    return hits.map((hit) => JSON.stringify(hit)).sort()
  }
  return { registry, search, found }
}

/** What the tables have of rows once all is done, without the numbers. */
async function tablesOf({ registry, found }: Opened): Promise<unknown> {
  for (let left = 20; left > 0; left--) await found('apple')
  const file = registry.index.database.file as DatabaseFile // it is in memory
  return {
    held: file.rows(`
      SELECT a.slug AS testset, v.slug AS variant, hex(h.position) AS position, hex(r.oid) AS oid
      FROM variant_rows h JOIN rows r ON r.number = h.row
        LEFT JOIN variants v ON v.number = h.variant LEFT JOIN artifacts a ON a.number = r.artifact
      ORDER BY 1, 2, 3, 4`),
    rows: file.rows('SELECT hex(oid) AS oid FROM rows ORDER BY 1'),
    words: file.rows('SELECT count(*) AS count FROM row_words'),
    heads: file.rows(`
      SELECT a.slug AS testset, v.slug AS variant, hex(h.head) AS head, hex(h.tree) AS tree, h.position, h.gone
      FROM row_heads h LEFT JOIN variants v ON v.number = h.variant LEFT JOIN artifacts a ON a.number = v.artifact
      ORDER BY 1, 2`),
  }
}

async function take(
  registry: Registry,
  what: string,
  number: number,
  to: number,
  words: readonly string[],
): Promise<void> {
  const artifacts = [...(await registry.index.list(family))]
  const message = `Step ${number}`
  const rows = words.map((word) => ({ data: { word, testcase_dedup_id: to % 2 === 0 ? word : `${word}-2` } }))
  // As a request brings it.
  const data = parseJson(stringifyJson({ testcases: rows }))
  const header = { flags: { search: to % 3 > 0 } }
  if (what === 'create')
    await createArtifact(
      registry,
      family,
      { slug: `set-${number}`, header, withVariant: {}, loc: [] },
      context,
    )
  const artifact = artifacts[to % artifacts.length]
  const variant = artifact?.variants[to % artifact.variants.length]
  if (!artifact || !variant) return
  const place = { artifact, variant }
  const isArchived = variant.record.deleted_at !== undefined
  if (what === 'commit' && !isArchived)
    await commitRevision(registry, place, { data, message, header: {}, loc: [] }, context)
  if (what === 'fork' && variant.head !== undefined) {
    const fork = { slug: `fork-${number}`, header: {}, loc: [] }
    await forkVariant(registry, family, { variant: { id: variant.id } }, fork, context)
  }
  if (what === 'opt') await editArtifact(registry, artifact, header, context)
  if (what === 'archive') await archiveVariant(registry, place, isArchived ? 'unarchive' : 'archive', context)
  // As plain git does it: back by one commit, and gone.
  if ((what === 'reset' && variant.head !== undefined) || (what === 'drop' && artifact.variants.length > 1)) {
    const node =
      what === 'reset' && variant.head ? await artifact.repository.history.node(variant.head) : undefined
    await artifact.repository.transact(async (transaction) => {
      const ref = `refs/heads/${variant.slug}`
      if (node) transaction.setDerivedRef(ref, node.parent?.oid ?? node.oid)
      else transaction.removeDerivedRef(ref)
    })
    await registry.index.sweep()
  }
  if (what === 'remove') {
    registry.store.fs.removeTree(artifact.repository.path)
    await registry.index.sweep()
  }
}
