import { expect } from 'chai'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { IndexEntry, viewCache } from '../../../src/registry/index/index-entry.ts'
import { SlugTable } from '../../../src/registry/index/slug-table.ts'

const SINCE = '2026-01-01T00:00:00.000Z'

describe('versioning: the table of slugs', () => {
  let looks = 0

  beforeEach(() => {
    looks = 0
  })

  /** An artifact with 100 variants, which counts how often all its slugs are asked for. */
  function artifact(slug: string, prefix: string, since = SINCE): IndexEntry {
    const names = () => {
      looks++
      const variants = Array.from({ length: 100 }, (_, at) => [`${prefix}${at}`, since] as const)
      return { slug, since, variants, tags: [] }
    }
    const unused = (): never => {
      throw new Error('the table asks for slugs only')
    }
    const row = { recordJson: '{}', viewJson: '{}', isUnrecorded: false, stamps: '' }
    const from = { id: slug, createdAt: since, names, record: unused, view: unused, ...row }
    return new IndexEntry(workflowFamily, slug, from, viewCache())
  }

  const owners = (table: SlugTable, slug: string, others?: string) =>
    [...table.claims('variant', workflowFamily, slug, others === undefined ? {} : { others })].map(
      ({ entry }) => entry.slug,
    )

  it('does not look through an artifact for the slugs that only it has, when others are asked for', () => {
    const table = new SlugTable()
    table.add(artifact('mine', 'v'))
    looks = 0
    for (let at = 0; at < 100; at++) expect(owners(table, `v${at}`, 'mine')).to.deep.equal([])
    expect(looks).to.equal(0)
    expect(owners(table, 'v7')).to.deep.equal(['mine'])
    expect(owners(table, 'v7', 'somebody else')).to.deep.equal(['mine'])
  })

  it('looks through an artifact once for all slugs that another one shares with it', () => {
    const table = new SlugTable()
    table.add(artifact('older', 'v'))
    looks = 0
    table.add(artifact('newer', 'v', '2026-02-01T00:00:00.000Z'))
    expect(looks).to.equal(2)
    expect(owners(table, 'v7')).to.deep.equal(['older', 'newer'])
    expect(owners(table, 'v7', 'newer')).to.deep.equal(['older'])
    expect(owners(table, 'v7', 'older')).to.deep.equal(['newer'])
  })
})
